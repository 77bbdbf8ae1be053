#!/bin/sh
# Start one Sentinel: REDIS_PRIMARY and REDIS_SENTINEL_PASSWORD as for `redis.sh`.
set -eu
umask 077
: "${REDIS_PRIMARY:?}" "${REDIS_SENTINEL_PASSWORD:?set it to letters and digits}"
data=${REDIS_DATA:-/data}

if [ ! -f "$data/sentinel.conf" ]; then
    # Each word is looked for where it stands, so that no password or path is taken for one.
    sed -e '/^#/d' \
        -e "s|^dir DATA$|dir $data|" \
        -e "s|^port SENTINEL_PORT$|port ${SENTINEL_PORT:-26379}|" \
        -e "s|^\(.*pass[a-z ]*\) SENTINEL_PASSWORD$|\1 $REDIS_SENTINEL_PASSWORD|" \
        -e "s|PRIMARY_HOST PRIMARY_PORT 2$|$REDIS_PRIMARY ${REDIS_PRIMARY_PORT:-6379} 2|" \
        "$(dirname "$0")/sentinel.conf" >"$data/sentinel.conf"
fi
exec redis-server "$data/sentinel.conf" --sentinel

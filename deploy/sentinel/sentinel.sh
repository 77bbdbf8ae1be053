#!/bin/sh
# Start one Sentinel: REDIS_PRIMARY and REDIS_SENTINEL_PASSWORD as for `redis.sh`.
set -eu
umask 077
: "${REDIS_PRIMARY:?}" "${REDIS_SENTINEL_PASSWORD:?set it to letters and digits}"
data=${REDIS_DATA:-/data}

if [ ! -f "$data/sentinel.conf" ]; then
    sed -e '/^#/d' \
        -e "s|DATA|$data|" \
        -e "s|SENTINEL_PORT|${SENTINEL_PORT:-26379}|" \
        -e "s|SENTINEL_PASSWORD|$REDIS_SENTINEL_PASSWORD|" \
        -e "s|PRIMARY_HOST|$REDIS_PRIMARY|" \
        -e "s|PRIMARY_PORT|${REDIS_PRIMARY_PORT:-6379}|" \
        "$(dirname "$0")/sentinel.conf" >"$data/sentinel.conf"
fi
exec redis-server "$data/sentinel.conf" --sentinel

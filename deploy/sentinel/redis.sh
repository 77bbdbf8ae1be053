#!/bin/sh
# Start one of several Redis that copy each other, with the files of deploy/redis beside this one or
# in ../redis. REDIS_HOST is this one's name, REDIS_PRIMARY that of the one which begins as primary,
# and REDIS_PASSWORD, REDIS_REPLICA_PASSWORD and REDIS_SENTINEL_PASSWORD are the same for all.
set -eu
umask 077
: "${REDIS_HOST:?}" "${REDIS_PRIMARY:?}" "${REDIS_REPLICA_PASSWORD:?}" "${REDIS_SENTINEL_PASSWORD:?}"
here=$(dirname "$0")
[ -f "$here/redis.conf" ] || here=$here/../redis
data=${REDIS_DATA:-/data}
port=${REDIS_PORT:-6379}

# Redis writes into its configuration who copies whom, so it is kept with the data and made only once.
if [ ! -f "$data/redis.conf" ]; then
    {
        cat "$here/redis.conf"
        echo "dir $data"
        echo "port $port"
        echo "replica-announce-ip $REDIS_HOST"
        echo "masteruser replica"
        echo "masterauth $REDIS_REPLICA_PASSWORD"
        if [ "$REDIS_HOST:$port" != "$REDIS_PRIMARY:${REDIS_PRIMARY_PORT:-6379}" ]; then
            echo "replicaof $REDIS_PRIMARY ${REDIS_PRIMARY_PORT:-6379}"
        fi
    } >"$data/redis.conf"
fi
sh "$here/users.sh" >"$data/users.acl"
exec redis-server "$data/redis.conf" --aclfile "$data/users.acl"

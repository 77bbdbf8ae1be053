#!/bin/sh
# Start Redis with the configuration and the users that lie beside this file. It keeps its data in
# /data, or where REDIS_DATA says; what is given here overrides the rest: `start.sh --maxmemory 2gb`.
set -eu
umask 077
here=$(dirname "$0")
users=${TMPDIR:-/tmp}/users.acl

sh "$here/users.sh" >"$users"
exec redis-server "$here/redis.conf" --dir "${REDIS_DATA:-/data}" --aclfile "$users" "$@"

#!/bin/sh
# Print the ACL file that `users.acl` stands for; REDIS_PASSWORD must be set.
set -eu
: "${REDIS_PASSWORD:?set it to the password of the user chargehand}"

awk '/^ *#/ || !NF { next }
     /^user/ { if (user) print user; user = $0; next }
     { $1 = $1; user = user " " $0 }
     END { print user }' "$(dirname "$0")/users.acl" |
while IFS= read -r user; do
    case $user in
        *" #"*)
            variable=${user#* #}
            variable=${variable%% *}
            eval "password=\${$variable-}"
            [ -n "$password" ] || continue
            hash=$(printf %s "$password" | sha256sum)
            printf '%s #%s%s\n' "${user%% #*}" "${hash%% *}" "${user#* "#$variable"}"
            ;;
        *) printf '%s\n' "$user" ;;
    esac
done

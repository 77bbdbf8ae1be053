-- Renew a pod's leases. Returns those that it no longer holds: their work is to stop.
-- ARGV: lease seconds, lease members...
local lost = {}
local expires = now() + tonumber(ARGV[1])
for i = 2, #ARGV do
  if redis.call('ZSCORE', LEASES, ARGV[i]) then
    redis.call('ZADD', LEASES, expires, ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost

-- Announce a process and renew its leases. Returns those that it no longer holds: their work is to
-- stop.
-- ARGV: pod, facts, seconds for which this holds, lease members...
local expires, lost = now() + tonumber(ARGV[3]), {}
if redis.call('ZADD', PODS, expires, ARGV[1]) == 1 then
  redis.call('HSET', POD_FACTS, ARGV[1], ARGV[2])
end
for i = 4, #ARGV do
  if redis.call('ZSCORE', LEASES, ARGV[i]) then
    redis.call('ZADD', LEASES, expires, ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost

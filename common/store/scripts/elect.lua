-- Ask for the right to reconcile, or keep it. Returns 1 for the one process that has it.
-- ARGV: pod, milliseconds for which it holds
local holder = redis.call('GET', RECONCILER)
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', RECONCILER, ARGV[1], 'PX', tonumber(ARGV[2]))
return 1

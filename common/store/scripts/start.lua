-- Take a plan for a job that has none: all its steps wait. Returns 1, or 0 when it has one already.
-- ARGV: plan, ttl, data for the trace, step ids...
if job_state() ~= 'submitted' then return 0 end
local ttl = tonumber(ARGV[2])
redis.call('HSET', JOB, 'state', 'running', 'plan', ARGV[1])
for i = 4, #ARGV do
  redis.call('HSET', STEPS, ARGV[i], '{"state":"waiting","attempt":1}')
  redis.call('SADD', OPEN, ARGV[i])
end
redis.call('EXPIRE', STEPS, ttl)
redis.call('EXPIRE', OPEN, ttl)
trace('planned', '', ARGV[3])
return 1

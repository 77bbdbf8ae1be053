-- Take a plan for a job that has none, from the process that holds its planning: all steps wait.
-- Returns 1, or 0 when the job has a plan already or another process plans it.
-- ARGV: plan, ttl, data for the trace, token, team if it was added to, step ids...
local token = ARGV[4]
if job_state() ~= 'submitted' then return 0 end
if not holds('plan', token) then
  trace('refused', '', ARGV[3])
  return 0
end
local ttl = tonumber(ARGV[2])
redis.call('HSET', JOB, 'state', 'running', 'plan', ARGV[1])
if ARGV[5] ~= '' then redis.call('HSET', JOB, 'team', ARGV[5]) end
for i = 6, #ARGV do
  redis.call('HSET', STEPS, ARGV[i], '{"state":"waiting","attempt":1}')
  redis.call('SADD', OPEN, ARGV[i])
end
redis.call('EXPIRE', STEPS, ttl)
redis.call('EXPIRE', OPEN, ttl)
end_phase('plan', token)
trace('planned', '', ARGV[3])
return 1

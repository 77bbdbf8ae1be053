-- Move a running job to aggregation when all its steps have ended. Returns 1 when it is in
-- aggregation, now or already, else 0.
local state = job_state()
if state == 'aggregating' then return 1 end
if state ~= 'running' or redis.call('SCARD', OPEN) > 0 then return 0 end
redis.call('HSET', JOB, 'state', 'aggregating')
trace('joined', '', '{}')
return 1

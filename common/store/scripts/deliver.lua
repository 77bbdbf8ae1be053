-- End a job: with its report from aggregation, or with an error from wherever it is. Returns 1, or
-- 0 when it has ended already.
-- ARGV: state, field (report or error), value, data for the trace
local state, field, before = ARGV[1], ARGV[2], job_state()
if before == 'done' or before == 'cancelled' or before == 'failed' then return 0 end
if field == 'report' and before ~= 'aggregating' then return 0 end
redis.call('HSET', JOB, field, ARGV[3])
end_job(state)
trace('delivered', '', ARGV[4])
return 1

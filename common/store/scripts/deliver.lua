-- End a job: with its report from the process that holds its aggregation, or with an error from
-- wherever it is. Returns 1, or 0 when it has ended already or another process aggregates it.
-- ARGV: state, field (report or error), value, data for the trace, token
local state, field, before, token = ARGV[1], ARGV[2], job_state(), ARGV[5]
-- A job that has expired is not begun anew.
if not before or before == 'done' or before == 'cancelled' or before == 'failed' then return 0 end
if field == 'report' then
  if before ~= 'aggregating' or not holds('aggregate', token) then
    trace('refused', '', ARGV[4])
    return 0
  end
  end_phase('aggregate', token)
end
redis.call('HSET', JOB, field, ARGV[3])
end_job(state)
trace('delivered', '', ARGV[4])
return 1

-- End all open steps of a job, for good, and move it to aggregation with what there is; a job
-- without a plan ends at once. Returns the state that the job is in now.
-- ARGV: why (cancelled or deadline), data for the trace, queues that no pod serves...
local state, deserted = job_state(), {}
for i = 3, #ARGV do deserted[ARGV[i]] = true end
if state == 'submitted' then
  redis.call('HSET', JOB, 'error', 'stopped before it was planned: ' .. ARGV[1])
  end_job(ARGV[1] == 'cancelled' and 'cancelled' or 'failed')
  trace('delivered', '', ARGV[2])
elseif state == 'running' then
  for _, step in ipairs(redis.call('SMEMBERS', OPEN)) do
    redis.call('ZREM', DUE, due_member(step))
    local record = load_step(step)
    if record.state == 'queued' and deserted[record.queue] then
      record.why = "no pod serves its queue '" .. record.queue .. "'"
    end
    close_step(step, record, 'cancelled')
  end
  redis.call('HSET', JOB, 'stopped', ARGV[1], 'state', 'aggregating')
  trace('stopped', '', ARGV[2])
end
-- A job past its deadline is not overdue a second time.
if redis.call('ZSCORE', LIVE, job_id) then redis.call('ZADD', LIVE, '+inf', job_id) end
return job_state()

-- Carry out what was decided about steps. Each decision holds only for the attempt and state that
-- it was made for, so that a join that runs twice decides once. Returns the steps that it held for.
-- ARGV: septuples of step, attempt, state it is in, action (retry, or the state that ends it), delay,
-- why, data for the trace
local carried = {}
if job_state() ~= 'running' then return carried end
for i = 1, #ARGV, 7 do
  local step, attempt, from, action = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3]
  local record = load_step(step)
  if record and record.attempt == attempt and record.state == from then
    if action == 'retry' then
      save_step(step, { state = 'waiting', attempt = attempt + 1, suspect = record.suspect,
        spared = record.spared })
      redis.call('ZADD', DUE, now() + tonumber(ARGV[i + 4]), due_member(step))
    else
      record.why = ARGV[i + 5]
      redis.call('ZREM', DUE, due_member(step))
      close_step(step, record, action)
    end
    trace('decided', step, ARGV[i + 6])
    carried[#carried + 1] = step
  end
end
return carried

-- Carry out what was decided about steps. Each decision holds only for the attempt and state that
-- it was made for, so that a join that runs twice decides once. Returns the steps that it held for.
-- ARGV: quintuples of step, attempt, action (retry, skip, or the state that ends it), delay, data
local carried = {}
if job_state() ~= 'running' then return carried end
for i = 1, #ARGV, 5 do
  local step, attempt, action = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2]
  local record = load_step(step)
  local from = action == 'skipped' and 'waiting' or 'undecided'
  if record and record.attempt == attempt and record.state == from then
    if action == 'retry' then
      save_step(step, { state = 'waiting', attempt = attempt + 1, suspect = record.suspect,
        spared = record.spared })
      redis.call('ZADD', DUE, now() + tonumber(ARGV[i + 3]), due_member(step))
    else
      close_step(step, record, action)
    end
    trace('decided', step, ARGV[i + 4])
    carried[#carried + 1] = step
  end
end
return carried

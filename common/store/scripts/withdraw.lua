-- Take back a step from its queue before anyone claimed it: it waits to be dispatched anew, as
-- another attempt, so that its old message is stale should it turn up. Returns 1, or 0 when the step
-- is not there any more.
-- ARGV: step, attempt, the time before which it must have been put on its queue, data for the trace
local step, attempt, record = ARGV[1], tonumber(ARGV[2]), load_step(ARGV[1])
if not record or record.state ~= 'queued' or record.attempt ~= attempt then return 0 end
if record.queued > tonumber(ARGV[3]) then return 0 end
let_go(step, record)
save_step(step, { state = 'waiting', attempt = attempt + 1, spared = (record.spared or 0) + 1,
  suspect = record.suspect })
redis.call('ZADD', DUE, now(), due_member(step))
trace('reconciled', step, ARGV[4])
return 1

-- Take back a step whose message has vanished before anyone claimed it: it waits again.
-- Returns 1, or 0 when that no longer holds.
-- ARGV: step, attempt, the time before which it must have been put on its queue, data for the trace
local step, record = ARGV[1], load_step(ARGV[1])
if not record or record.state ~= 'queued' or record.attempt ~= tonumber(ARGV[2]) then return 0 end
if record.queued > tonumber(ARGV[3]) then return 0 end
let_go(step, record)
record.state = 'waiting'
save_step(step, record)
redis.call('ZADD', DUE, now(), due_member(step))
trace('reconciled', step, ARGV[4])
return 1

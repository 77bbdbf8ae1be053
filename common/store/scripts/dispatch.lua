-- Put waiting steps on their queues. Returns the ids of those that were waiting, each with its
-- attempt: only they may be published, so two joins never publish the same attempt.
-- ARGV: quadruples of step, queue, specialist who does it, data for the trace
local taken = {}
if job_state() ~= 'running' then return taken end
local t = now()
for i = 1, #ARGV, 4 do
  local step, queue = ARGV[i], ARGV[i + 1]
  local record = load_step(step)
  if record and record.state == 'waiting' then
    record.state, record.queue, record.queued = 'queued', queue, t
    record.specialist = ARGV[i + 2]
    save_step(step, record)
    redis.call('ZADD', WAITING_PREFIX .. queue, t, waiting_member(step, record.attempt))
    redis.call('SADD', QUEUES, queue)
    redis.call('ZREM', DUE, due_member(step))
    redis.call('HINCRBY', FLOW, 'came:' .. queue, 1)
    trace('dispatched', step, ARGV[i + 3])
    taken[#taken + 1] = step
    taken[#taken + 1] = record.attempt
  end
end
return taken

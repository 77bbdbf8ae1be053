-- Store the outcome of an attempt, once, from the pod that holds it. Returns 1, or 0 when the pod's
-- token is stale or the step has ended: its outcome then does not count.
-- ARGV: step, attempt, token, state, outcome, data for the trace, ttl, then pairs of event and data
local step, attempt, token, state = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local field = attempt_field(step, attempt)
if not job_state() then return 0 end
local record = load_step(step)
local mine = record and record.attempt == attempt and record.token == token
-- The answer to an earlier call may have got lost; what it stored stands.
if mine and redis.call('HEXISTS', OUTCOMES, field) == 1 then return 1 end
if not mine or record.state ~= 'running' then
  trace('refused', step, ARGV[6])
  return 0
end
redis.call('HSET', OUTCOMES, field, ARGV[5])
if redis.call('HLEN', OUTCOMES) == 1 then redis.call('EXPIRE', OUTCOMES, tonumber(ARGV[7])) end
for i = 8, #ARGV, 2 do trace(ARGV[i], step, ARGV[i + 1]) end
if state == 'succeeded' then
  close_step(step, record, state)
else
  -- What to do about it is for the join to decide; until then the step keeps its job open.
  move_step(step, record, state)
end
trace('outcome', step, ARGV[6])
return 1

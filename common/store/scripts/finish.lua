-- Store the outcome of an attempt, once, from the pod that holds it. Returns 1, or 0 when the pod's
-- token is stale or the step has ended: its outcome then does not count.
-- ARGV: step, attempt, token, state, outcome, data for the trace, ttl, seconds that it took, the
-- specialist's name for its breaker, what that learns (works, fails or nothing), failures that open
-- it, then pairs of event and data

-- Keep the mean of the last few steps' times, and what 95 of 100 stay below, without their list: the
-- latter moves up nineteen times as far when a step took longer as it moves down when it did not.
local function learn_time(queue, seconds)
  local known = redis.call('HGET', TIMES, queue)
  local mean, high = seconds, seconds
  if known then
    mean, high = string.match(known, '^(%S+) (%S+)$')
    mean, high = tonumber(mean), tonumber(high)
    local pace = math.max(mean, seconds) / 20
    mean = mean + (seconds - mean) / 10
    high = math.max(mean, high + (seconds > high and 0.95 or -0.05) * pace)
  end
  redis.call('HSET', TIMES, queue, exact(mean) .. ' ' .. exact(high))
end

-- A breaker counts failures in a row; it opens at the last that it allows, and closes at a success.
local function learn_breaker(specialist, lesson, most)
  if lesson == 'works' then
    redis.call('HDEL', BREAKERS, specialist)
  elseif lesson == 'fails' then
    local known = redis.call('HGET', BREAKERS, specialist)
    local breaker = known and cjson.decode(known) or { failures = 0 }
    breaker.failures = breaker.failures + 1
    if breaker.failures >= most then breaker.opened, breaker.probed = now(), nil end
    redis.call('HSET', BREAKERS, specialist, cjson.encode(breaker))
  end
end

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
learn_time(record.queue, tonumber(ARGV[8]))
learn_breaker(ARGV[9], ARGV[10], tonumber(ARGV[11]))
for i = 12, #ARGV, 2 do trace(ARGV[i], step, ARGV[i + 1]) end
if state == 'succeeded' then
  close_step(step, record, state)
else
  -- What to do about it is for the join to decide; until then the step keeps its job open.
  move_step(step, record, state)
end
trace('outcome', step, ARGV[6])
return 1

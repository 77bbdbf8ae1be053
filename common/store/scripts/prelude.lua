-- What every script shares. Before it stand the names of `common.names` as locals; KEYS[1] to KEYS[5]
-- are one job's: its hash, step records, open steps, outcomes and trace. Times are Redis's own, in
-- seconds, so that no pod's clock matters.
local JOB, STEPS, OPEN, OUTCOMES, TRACE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local job_id = JOB and string.sub(JOB, #JOB_PREFIX + 1)

-- Redis refuses a script that enlarges a full memory only at its first write. What is under way is
-- to finish even then, so all but a submission write something that costs nothing first.
if not REFUSED_WHEN_FULL then redis.call('DEL', 'chargehand:nothing') end

local function now()
  local t = redis.call('TIME')
  return tonumber(t[1]) + tonumber(t[2]) / 1000000
end

-- Lua's own rendering of a number drops the fractions of a second.
local function exact(seconds)
  return string.format('%.6f', seconds)
end

-- A trace begins with its job; one that has expired with it is not begun anew, without an end.
local function trace(event, step, data)
  redis.call('XADD', TRACE, 'NOMKSTREAM', '*', 'event', event, 'step', step, 'data', data)
end

local function job_state()
  return redis.call('HGET', JOB, 'state')
end

local function load_step(step)
  local raw = redis.call('HGET', STEPS, step)
  return raw and cjson.decode(raw) or nil
end

local function save_step(step, record)
  redis.call('HSET', STEPS, step, cjson.encode(record))
end

local function attempt_field(step, attempt)
  return step .. '/' .. attempt
end

local function due_member(step)
  return job_id .. ' ' .. step
end

local function waiting_member(step, attempt)
  return job_id .. ' ' .. attempt_field(step, attempt)
end

local function lease_member(step, attempt, token)
  return waiting_member(step, attempt) .. ' ' .. token
end

-- A queued step is named in its queue's sorted set and a running one in the leases; take it out.
local function let_go(step, record)
  if record.state == 'queued' then
    redis.call('ZREM', WAITING_PREFIX .. record.queue, waiting_member(step, record.attempt))
  elseif record.state == 'running' then
    redis.call('ZREM', LEASES, lease_member(step, record.attempt, record.token))
    redis.call('HINCRBY', RUNNING, record.queue, -1)
    redis.call('HINCRBY', FLOW, 'left:' .. record.queue, 1)
  end
end

local function move_step(step, record, state)
  let_go(step, record)
  record.state, record.ended = state, now()
  save_step(step, record)
end

-- The step has come to its end: it no longer keeps its job open.
local function close_step(step, record, state)
  move_step(step, record, state)
  redis.call('SREM', OPEN, step)
end

local function phase_member(phase, token)
  return job_id .. ' ' .. phase .. ' ' .. token
end

-- Tell whether a process holds a phase of the job, by its token.
local function holds(phase, token)
  return redis.call('HGET', JOB, 'lease:' .. phase) == token
end

local function end_phase(phase, token)
  redis.call('HDEL', JOB, 'lease:' .. phase)
  redis.call('ZREM', LEASES, phase_member(phase, token))
end

local function end_job(state)
  redis.call('HSET', JOB, 'state', state, 'ended', exact(now()))
  redis.call('ZREM', LIVE, job_id)
  redis.call('ZREM', CHECKS, job_id)
  redis.call('XADD', JOB .. ':ended', '*', 'state', state)
  redis.call('EXPIRE', JOB .. ':ended', redis.call('TTL', JOB))
end

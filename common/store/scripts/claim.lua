-- Claim an attempt for a pod. Returns what became of it: granted, suspect (granted, but an earlier
-- attempt at it was lost with its pod), done, held, stale or unknown; when it is granted also the
-- seconds that are left until the job's deadline, the queue, and the seconds that it waited there.
-- The token is the pod's own, so that a claim whose answer got lost can be asked for again.
-- ARGV: step, attempt, token, pod, lease seconds
local step, attempt, token, pod = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local record, deadline = load_step(step), redis.call('HGET', JOB, 'deadline')
if not record or not deadline then return { 'unknown' } end
if record.attempt ~= attempt or record.state == 'waiting' then return { 'stale' } end
local t = now()
if record.state == 'running' then
  local expires = redis.call('ZSCORE', LEASES, lease_member(step, attempt, record.token))
  if record.token ~= token and expires and tonumber(expires) > t then return { 'held' } end
  record.suspect = record.suspect or record.token ~= token
elseif record.state ~= 'queued' then
  return { 'done' }
end
let_go(step, record)
record.state, record.token, record.pod, record.started = 'running', token, pod, t
save_step(step, record)
redis.call('HINCRBY', RUNNING, record.queue, 1)
redis.call('ZADD', LEASES, t + tonumber(ARGV[5]), lease_member(step, attempt, token))
local waited = t - record.queued
trace('started', step, cjson.encode({
  attempt = attempt, pod = pod, queue = record.queue, waited = waited }))
return { record.suspect and 'suspect' or 'granted', exact(tonumber(deadline) - t), record.queue,
  exact(waited) }

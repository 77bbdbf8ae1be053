-- Claim an attempt for a pod. Returns what became of it: granted, done, held, stale or unknown.
-- The token is the pod's own, so that a claim whose answer got lost can be asked for again.
-- ARGV: step, attempt, token, pod, lease seconds
local step, attempt, token, pod = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local record = load_step(step)
if not record then return 'unknown' end
if record.attempt ~= attempt or record.state == 'waiting' then return 'stale' end
local t = now()
if record.state == 'running' then
  if record.token == token then return 'granted' end
  local expires = redis.call('ZSCORE', LEASES, lease_member(step, attempt, record.token))
  if expires and tonumber(expires) > t then return 'held' end
elseif record.state ~= 'queued' then
  return 'done'
end
let_go(step, record)
record.state, record.token, record.pod, record.started = 'running', token, pod, t
record.deliveries = (record.deliveries or 0) + 1
save_step(step, record)
redis.call('ZADD', LEASES, t + tonumber(ARGV[5]), lease_member(step, attempt, token))
trace('started', step, cjson.encode({
  attempt = attempt, pod = pod, queue = record.queue, waited = t - record.queued }))
return 'granted'

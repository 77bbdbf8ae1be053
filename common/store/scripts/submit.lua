-- Store a new job, once for each idempotency key. Returns the id of the job that the caller has.
-- KEYS[6] the idempotency key's key, or '' without one
-- ARGV: specification, team, seconds until the deadline, ttl, data for the trace, seconds until the
-- reconciler looks at it
local spec, team, ttl = ARGV[1], ARGV[2], tonumber(ARGV[4])
if KEYS[6] ~= '' then
  local known = redis.call('GET', KEYS[6])
  if known then return known end
  redis.call('SET', KEYS[6], job_id, 'EX', ttl)
end
if redis.call('EXISTS', JOB) == 1 then return job_id end
local t = now()
local deadline = t + tonumber(ARGV[3])
redis.call('HSET', JOB, 'spec', spec, 'team', team, 'state', 'submitted', 'created', exact(t),
  'deadline', exact(deadline))
redis.call('EXPIRE', JOB, ttl)
redis.call('ZADD', JOBS, t, job_id)
redis.call('ZREMRANGEBYSCORE', JOBS, '-inf', t - ttl)
redis.call('ZADD', LIVE, deadline, job_id)
redis.call('ZADD', CHECKS, t + tonumber(ARGV[6]), job_id)
redis.call('XADD', TRACE, '*', 'event', 'submitted', 'step', '', 'data', ARGV[5])
redis.call('EXPIRE', TRACE, ttl)
return job_id

-- Carry on a job that has ended: the given steps wait again, with all their tries. A job without a
-- plan is planned again. Returns the state that the job is in now, or nothing when it had not ended.
-- ARGV: seconds until the new deadline, ttl, seconds until the reconciler looks at it, data for the
-- trace, steps...
local state, t = job_state(), now()
if state ~= 'done' and state ~= 'cancelled' and state ~= 'failed' then return false end
local deadline, ttl = t + tonumber(ARGV[1]), tonumber(ARGV[2])
local planned = redis.call('HEXISTS', JOB, 'plan') == 1
redis.call('HDEL', JOB, 'report', 'error', 'stopped', 'ended')
redis.call('HSET', JOB, 'state', planned and 'running' or 'submitted', 'deadline', exact(deadline))
for i = 5, #ARGV do
  local record = load_step(ARGV[i])
  save_step(ARGV[i], { state = 'waiting', attempt = record.attempt + 1, spared = record.attempt })
  redis.call('SADD', OPEN, ARGV[i])
end
redis.call('DEL', JOB .. ':ended')
for i = 1, 5 do redis.call('EXPIRE', KEYS[i], ttl) end
redis.call('ZADD', LIVE, deadline, job_id)
redis.call('ZADD', CHECKS, t + tonumber(ARGV[3]), job_id)
trace('resumed', '', ARGV[4])
return job_state()

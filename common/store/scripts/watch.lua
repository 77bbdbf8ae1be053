-- Return what needs the reconciler now, to the one process that has the right to reconcile or gets it
-- now, and nothing to all others: steps that are due, leases that have expired, jobs past
-- their deadline, jobs to look at, and messages that have vanished; each is bounded, the rest comes
-- in the next round. Jobs to look at are put off until they are to be looked at again, and processes
-- that went silent are forgotten.
-- ARGV: how many of each, seconds until a job is looked at again, seconds that a message may take,
-- pod, milliseconds for which it keeps the right
local holder = redis.call('GET', RECONCILER)
if holder and holder ~= ARGV[4] then return {} end
redis.call('SET', RECONCILER, ARGV[4], 'PX', tonumber(ARGV[5]))
local t, most, grace = now(), tonumber(ARGV[1]), tonumber(ARGV[3])

local function until_time(key, time)
  return redis.call('ZRANGEBYSCORE', key, '-inf', exact(time), 'LIMIT', 0, most)
end

-- A queue is first in, first out: what was put on it before its oldest message, and has not been
-- claimed for a while, is no longer on it. Steps that were put on it together share one time.
local function horizon(queue)
  local oldest = redis.call('LINDEX', queue, -1)
  if not oldest then return t - grace end
  local ok, message = pcall(cjson.decode, oldest)
  local id = ok and type(message.headers) == 'table' and message.headers.id
  local job, step, attempt = string.match(type(id) == 'string' and id or '', '^(%w+)%.(.+)%.(%d+)$')
  if not job then return nil end
  local member = job .. ' ' .. step .. '/' .. attempt
  local queued = redis.call('ZSCORE', WAITING_PREFIX .. queue, member)
  return queued and math.min(tonumber(queued) - 0.000001, t - grace)
end

local jobs = until_time(CHECKS, t)
for _, job in ipairs(jobs) do redis.call('ZADD', CHECKS, t + tonumber(ARGV[2]), job) end
for _, pod in ipairs(until_time(PODS, t)) do
  redis.call('ZREM', PODS, pod)
  redis.call('HDEL', POD_FACTS, pod)
end
local vanished = {}
for _, queue in ipairs(redis.call('SMEMBERS', QUEUES)) do
  local before = horizon(queue)
  for _, member in ipairs(before and until_time(WAITING_PREFIX .. queue, before) or {}) do
    vanished[#vanished + 1] = member
    vanished[#vanished + 1] = exact(before)
  end
end
return { until_time(DUE, t), until_time(LEASES, t), until_time(LIVE, t), jobs, vanished }

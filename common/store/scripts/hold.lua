-- Claim a phase of a job (plan or aggregate) for a process. Returns granted, held by another, or
-- done when the job is not in the state that the phase starts from.
-- ARGV: phase, state, token, pod, lease seconds
local phase, token, t = ARGV[1], ARGV[3], now()
if job_state() ~= ARGV[2] then return 'done' end
local holder = redis.call('HGET', JOB, 'lease:' .. phase)
if holder and holder ~= token then
  local expires = redis.call('ZSCORE', LEASES, phase_member(phase, holder))
  if expires and tonumber(expires) > t then return 'held' end
  redis.call('ZREM', LEASES, phase_member(phase, holder))
end
redis.call('HSET', JOB, 'lease:' .. phase, token)
redis.call('ZADD', LEASES, t + tonumber(ARGV[5]), phase_member(phase, token))
if holder ~= token then trace('began', '', cjson.encode({ phase = phase, pod = ARGV[4] })) end
return 'granted'

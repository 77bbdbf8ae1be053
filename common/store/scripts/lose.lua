-- Take a running attempt away from the pod that held it. It waits to be tried again, as a suspect
-- when its pod is gone; after the last try the given outcome ends it. Returns again, over, or stale
-- when the pod has renewed its lease or finished in the meantime.
-- ARGV: step, attempt, token, tries, blame (1 or 0), outcome, data for the trace, ttl
local step, attempt, token = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local tries, blame = tonumber(ARGV[4]), ARGV[5] == '1'
local record, member = load_step(step), lease_member(step, attempt, token)
local mine = record and record.state == 'running' and record.attempt == attempt
  and record.token == token
if not mine then
  redis.call('ZREM', LEASES, member)
  return 'stale'
end
local expires = redis.call('ZSCORE', LEASES, member)
if blame and expires and tonumber(expires) > now() then return 'stale' end
trace('lost', step, ARGV[7])
local spared = (record.spared or 0) + (blame and 0 or 1)
if attempt - spared < tries then
  let_go(step, record)
  save_step(step, { state = 'waiting', attempt = attempt + 1, spared = spared,
    suspect = record.suspect or blame or nil })
  redis.call('ZADD', DUE, now(), due_member(step))
  return 'again'
end
redis.call('HSET', OUTCOMES, attempt_field(step, attempt), ARGV[6])
redis.call('EXPIRE', OUTCOMES, tonumber(ARGV[8]))
move_step(step, record, 'undecided')
return 'over'

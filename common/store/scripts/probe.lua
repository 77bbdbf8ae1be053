-- Ask for the one step that may test whether a specialist works again. Returns 1 when it is given.
-- ARGV: specialist, seconds that a breaker stays open before it is tested
local known = redis.call('HGET', BREAKERS, ARGV[1])
if not known then return 1 end
local breaker, t, pause = cjson.decode(known), now(), tonumber(ARGV[2])
if not breaker.opened then return 1 end
if t - (breaker.probed or breaker.opened) < pause then return 0 end
breaker.probed = t
redis.call('HSET', BREAKERS, ARGV[1], cjson.encode(breaker))
return 1

-- Forget a process that leaves.
-- ARGV: pod
redis.call('ZREM', PODS, ARGV[1])
redis.call('HDEL', POD_FACTS, ARGV[1])
return 1

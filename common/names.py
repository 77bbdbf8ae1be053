"""Every name that goes over the wire: tasks, queues and Redis keys."""

SUBMIT = "chargehand.submit"
PLAN = "chargehand.plan"
WORK = "chargehand.work"
JOIN = "chargehand.join"
AGGREGATE = "chargehand.aggregate"

SUPERVISOR_QUEUE = "supervisor"

IDEMPOTENT_KEYS = "chargehand:idempotent:"
"""From a caller's idempotency key to the job that it made."""
BLOBS = "chargehand:blob:"
"""A body by the hash of its content."""
JOBS = "chargehand:jobs"
"""Sorted set: every kept job by the time it was submitted."""
LIVE = "chargehand:live"
"""Sorted set: every job that has not ended, by its deadline."""
LEASES = "chargehand:leases"
"""Sorted set: every claim on running work, by the time it expires."""
DUE = "chargehand:due"
"""Sorted set: steps that are to be dispatched again, by the time they are due."""
CHECKS = "chargehand:checks"
"""Sorted set: every job that has not ended, by the time the reconciler looks at it next."""
QUEUES = "chargehand:queues"
"""Set: every queue that steps were sent to."""
PODS = "chargehand:pods"
"""Sorted set: every process that announced itself, by the time until which that holds."""
POD_FACTS = "chargehand:pod-facts"
"""Hash: what each of those processes said about itself."""
RECONCILER = "chargehand:reconciler"
"""The process that reconciles at present."""
REFUSED = "chargehand:refused"
"""Stream: messages that were refused, the newest ones, for inspection."""
COUNTERS = "chargehand:counters"
"""Hash: how often things happened that ought not to."""
RUNNING = "chargehand:running"
"""Hash: how many steps of each queue are running."""
TIMES = "chargehand:times"
"""Hash: how long the steps of each queue take, in the mean and at the 95th percentile."""
FLOW = "chargehand:flow"
"""Hash: how many steps came to each queue and left it, ever."""
BREAKERS = "chargehand:breakers"
"""Hash: the specialists that failed lately, each with how often in a row and since when."""
JOB_PREFIX = "chargehand:job:"
WAITING_PREFIX = "chargehand:waiting:"


def job(job_id: str) -> str:
    """Hash: a job's specification, team, plan, state and report."""
    return f"{JOB_PREFIX}{job_id}"


def steps(job_id: str) -> str:
    """Hash: a job's step records by step id."""
    return f"{JOB_PREFIX}{job_id}:steps"


def open_steps(job_id: str) -> str:
    """Set: the ids of a job's steps that have not ended."""
    return f"{JOB_PREFIX}{job_id}:open"


def outcomes(job_id: str) -> str:
    """Hash: a job's outcomes by step and attempt, each written once."""
    return f"{JOB_PREFIX}{job_id}:outcomes"


def trace(job_id: str) -> str:
    """Stream: what happened to a job, in order."""
    return f"{JOB_PREFIX}{job_id}:trace"


def ended(job_id: str) -> str:
    """Stream: one entry when the job has ended, for those who wait for nothing else."""
    return f"{JOB_PREFIX}{job_id}:ended"


def waiting(queue: str) -> str:
    """Sorted set: the step attempts on a queue that nobody has claimed, by time of dispatch."""
    return f"{WAITING_PREFIX}{queue}"


def attempt_field(step: str, attempt: int) -> str:
    """Name one attempt at one step inside a job."""
    return f"{step}/{attempt}"


def lease_member(job_id: str, step: str, attempt: int, token: str) -> str:
    """Name a pod's claim on an attempt among the leases."""
    return f"{job_id} {attempt_field(step, attempt)} {token}"


def phase_member(job_id: str, phase: str, token: str) -> str:
    """Name a supervisor's claim on a phase of a job among the leases."""
    return f"{job_id} {phase} {token}"


def task_id(job_id: str, step: str, attempt: int) -> str:
    """Name the Celery task of an attempt, so that it can be found from the job."""
    return f"{job_id}.{step}.{attempt}"

"""Jobs in Redis: each method is one atomic transition, or one read."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import redis

from common import names
from common.contracts import Job, Plan, Report, Team
from common.errors import UnknownJob
from common.states import JobState
from common.store.connection import Connection
from common.store.fleet import LOOK_AGAIN

BLOCK_SECONDS = 10.0
"""How long one command waits for a job to end."""

Phase = Literal["plan", "aggregate"]
Hold = Literal["granted", "held", "done"]
BEFORE: dict[Phase, JobState] = {"plan": JobState.SUBMITTED, "aggregate": JobState.AGGREGATING}
"""The state that a job is in when a phase of it starts."""


@dataclass(frozen=True)
class JobRecord:
    """A job as it is stored."""

    id: str
    spec: Job
    team: Team
    state: JobState
    created: float
    deadline: float
    plan: Plan | None
    report: Report | None
    error: str
    stopped: str
    """Why it was stopped before its time: cancelled, deadline, or nothing."""
    ended: float | None


def keys(job: str) -> list[str]:
    """Return a job's own keys, in the order in which every script expects them."""
    return [
        names.job(job),
        names.steps(job),
        names.open_steps(job),
        names.outcomes(job),
        names.trace(job),
    ]


class Jobs:
    """All jobs."""

    def __init__(self, connection: Connection, ttl: int) -> None:
        self._connection = connection
        self._ttl = ttl

    def submit(self, job_id: str, job: Job, team: Team) -> str:
        """Store a new job and return its id; with a known idempotency key, the earlier one's."""
        key = job.idempotency_key
        idempotent = f"{names.IDEMPOTENT_KEYS}{job.team}:{key}" if key else ""
        seconds = min(job.deadline_seconds or team.limits.seconds, team.limits.seconds)
        data = json.dumps({"team": job.team, "request": job.request[:200], "seconds": seconds})
        answer: str = self._connection.run(
            "submit",
            [*keys(job_id), idempotent],
            [job.model_dump_json(), team.model_dump_json(), seconds, self._ttl, data, LOOK_AGAIN],
        )
        return answer

    def hold(self, job_id: str, phase: Phase, token: str, pod: str, seconds: float) -> Hold:
        """Claim a phase of a job for a process, for so many seconds unless renewed."""
        args = [phase, BEFORE[phase], token, pod, seconds]
        answer: Hold = self._connection.run("hold", keys(job_id), args)
        return answer

    def start(self, job_id: str, plan: Plan, token: str, team: Team | None = None) -> bool:
        """Give a job its plan, and its team with whom the plan added to it.

        False when it has a plan already, or another process plans it.
        """
        data = {"steps": len(plan.steps), "planner": plan.planner, "goal": plan.goal[:200]}
        ids = [step.id for step in plan.steps]
        changed = team.model_dump_json() if team else ""
        args = [plan.model_dump_json(), self._ttl, json.dumps(data), token, changed, *ids]
        return bool(self._connection.run("start", keys(job_id), args))

    def conclude(self, job_id: str) -> bool:
        """Move a job whose steps have all ended to aggregation; tell whether it is there."""
        return bool(self._connection.run("conclude", keys(job_id), []))

    def stop(
        self, job_id: str, why: Literal["cancelled", "deadline"], deserted: Iterable[str] = ()
    ) -> JobState:
        """End a job's open steps; what there is will be aggregated. Return its state now.

        Steps on one of the `deserted` queues are told to have waited for a pod in vain.
        """
        args = [why, json.dumps({"why": why}), *deserted]
        state = self._connection.run("stop", keys(job_id), args)
        if state is None:
            raise UnknownJob(job_id)
        return JobState(state)

    def deliver(self, job_id: str, report: Report, state: JobState, token: str) -> bool:
        """End a job with its report; False when it has ended, or another process aggregates it."""
        data = {"state": state, "report": report.state, "findings": len(report.findings)}
        args = [state, "report", report.model_dump_json(), json.dumps(data), token]
        return bool(self._connection.run("deliver", keys(job_id), args))

    def fail(self, job_id: str, error: str) -> bool:
        """End a job that cannot go on; False when it has ended already."""
        data = json.dumps({"state": JobState.FAILED, "error": error})
        args = [JobState.FAILED, "error", error, data, ""]
        return bool(self._connection.run("deliver", keys(job_id), args))

    def resume(self, job_id: str, steps: Sequence[str], seconds: float) -> JobState | None:
        """Carry on a job that has ended, with these steps; None when it has not ended."""
        data = json.dumps({"steps": len(steps), "seconds": seconds})
        args = [seconds, self._ttl, LOOK_AGAIN, data, *steps]
        state = self._connection.run("resume", keys(job_id), args)
        return JobState(state) if state else None

    def forget(self, job_id: str) -> None:
        """Take a job that has expired off all lists."""

        def remove(client: redis.Redis) -> None:
            with client.pipeline() as pipe:
                for key in (names.JOBS, names.LIVE, names.CHECKS):
                    pipe.zrem(key, job_id)
                pipe.execute()

        self._connection.ask(remove)

    def get(self, job_id: str) -> JobRecord:
        """Return a job."""
        fields: Any = self._connection.ask(lambda client: client.hgetall(names.job(job_id)))
        if not fields:
            raise UnknownJob(job_id)
        plan, report, ended = fields.get("plan"), fields.get("report"), fields.get("ended")
        return JobRecord(
            id=job_id,
            spec=Job.model_validate_json(fields["spec"]),
            team=Team.model_validate_json(fields["team"]),
            state=JobState(fields["state"]),
            created=float(fields["created"]),
            deadline=float(fields["deadline"]),
            plan=Plan.model_validate_json(plan) if plan else None,
            report=Report.model_validate_json(report) if report else None,
            error=fields.get("error", ""),
            stopped=fields.get("stopped", ""),
            ended=float(ended) if ended else None,
        )

    def state(self, job_id: str) -> JobState:
        """Return the state that a job is in."""
        state: Any = self._connection.ask(lambda client: client.hget(names.job(job_id), "state"))
        if state is None:
            raise UnknownJob(job_id)
        return JobState(state)

    def wait(self, job_id: str, within: float | None = None) -> JobRecord:
        """Return a job when it has ended, or as it is after `within` seconds."""
        ends = None if within is None else time.monotonic() + within
        left = BLOCK_SECONDS if ends is None else ends - time.monotonic()
        while left > 0 and not self._ended(job_id, min(left, BLOCK_SECONDS)):
            left = BLOCK_SECONDS if ends is None else ends - time.monotonic()
        return self.get(job_id)

    def _ended(self, job_id: str, seconds: float) -> bool:
        if not self._connection.ask(lambda client: client.exists(names.job(job_id))):
            raise UnknownJob(job_id)
        key, block = names.ended(job_id), max(1, int(seconds * 1000))
        return bool(self._connection.ask(lambda client: client.xread({key: "0"}, block=block)))

    def recent(self, limit: int) -> list[JobRecord]:
        """Return the newest jobs, the newest first."""
        ids: Any = self._connection.ask(lambda c: c.zrevrange(names.JOBS, 0, limit - 1))
        found = []
        for job_id in ids:
            try:
                found.append(self.get(job_id))
            except UnknownJob:
                # The index outlives a job by at most one submission.
                continue
        return found

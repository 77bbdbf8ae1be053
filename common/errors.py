"""The errors that a user of Chargehand can meet.

ChargehandError
├── InputError          what was given is wrong: a value, a file, a reference
│   ├── TeamError       a team's folder is wrong, or no such team is known
│   └── PlanError       a plan breaks a rule; `faults` names every one of them
├── UnknownJob          no job has this id (any more)
├── StoreUnavailable    Redis cannot be reached, or refuses
├── LocalStackError     the local stack could not start or stay up
└── ModelError          the model's service gave no usable answer
    ├── ModelUnavailable   it is away, slow, overloaded or garbled; it may pass
    └── ModelMisused       it will not do this, however often it is asked: key, model, limits

Each message names the value and the remedy in one line. Work that failed is no error: it is an
outcome (see `common.contracts.outcome`).
"""


class ChargehandError(Exception):
    """The root of all errors that are meant for a user."""


class InputError(ChargehandError):
    """What was given is wrong."""


class TeamError(InputError):
    """A team's folder is wrong, or no such team is known."""


class PlanError(InputError):
    """A plan breaks one or more rules."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("the plan is refused: " + "; ".join(faults))
        self.faults = faults


class UnknownJob(ChargehandError):
    """No job has this id, or it has expired."""

    def __init__(self, job: str) -> None:
        super().__init__(f"no job {job!r}; `chargehand jobs` lists the known ones")


class StoreUnavailable(ChargehandError):
    """Redis cannot be reached, or refuses."""


class LocalStackError(ChargehandError):
    """The local stack could not start or stay up."""


class ModelError(ChargehandError):
    """The model's service gave no usable answer."""


class ModelUnavailable(ModelError):
    """The service is away, slow, overloaded or garbled; it may pass."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelMisused(ModelError):
    """The service will not do this, however often it is asked."""

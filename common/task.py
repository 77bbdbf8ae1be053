"""The class of our Celery tasks: a call that is wrong is refused, in one line."""

import logging
from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from celery import Task
from celery.exceptions import Ignore
from pydantic import ValidationError, validate_call

from common import envelope
from common.contracts import Job
from common.errors import ChargehandError, InputError, StoreUnavailable, UnknownJob
from common.intake import refuse

logger = logging.getLogger(__name__)


class CheckedTask(Task):  # type: ignore[misc]  # Celery is untyped.
    """A task that refuses a call that is wrong, in one line and without a traceback."""

    abstract = True
    # What is said to a caller is no fault of the process: Celery logs it without a traceback.
    throws = (ChargehandError,)

    @cached_property
    def _checked(self) -> Callable[..., Any]:
        return cast(Callable[..., Any], validate_call(self.run))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task; what a caller did wrong reaches the caller as an InputError."""
        try:
            return self._checked(*args, **kwargs)
        except ValidationError as error:
            # Wrong arguments, or a wrong job in them; anything else is a fault of ours.
            if error.title not in (self.run.__name__, Job.__name__):
                raise
            why = f"wrong call of {self.name}: {envelope.faults(error)}"
        except StoreUnavailable as error:
            logger.warning("%s is put off: %s", self.name, error)
            raise
        except (InputError, UnknownJob) as error:
            why = f"{self.name}: {error}"
        self._refuse(why, args, kwargs)
        if self.request.ignore_result:
            raise Ignore
        raise InputError(why)

    def _refuse(self, why: str, args: Any, kwargs: Any) -> None:
        queue = (self.request.delivery_info or {}).get("routing_key") or ""
        refuse(queue, why, {"task": self.name, "id": self.request.id, "args": args, **kwargs})

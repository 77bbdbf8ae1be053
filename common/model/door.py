"""Calls of the Anthropic SDK: the only module that imports it, and only when a model is called."""

import logging
import random
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from common.errors import ModelMisused, ModelUnavailable
from common.model import wire
from common.model.faults import Faults
from common.model.words import Reply, Request
from common.settings import Settings, settings

logger = logging.getLogger(__name__)

TRIES = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 20.0
CONNECTING = 5.0
"""Seconds within which a service that is there has taken the connection."""
LONG = 8_192
"""An answer that may have more tokens comes as a stream: no network keeps silent lines open."""

Left = Callable[[], float]
"""Returns the seconds that remain, or raises when there are none."""


@cache
def door() -> "Door":
    """Return this process's door, made when a model is first called: after any fork."""
    return Door(settings())


class Door:
    """A client of the service, safe to use from many threads."""

    def __init__(self, given: Settings) -> None:
        secret = given.anthropic_api_key
        key = secret.get_secret_value().strip() if secret else ""
        if not key:
            raise ModelMisused("no API key; set ANTHROPIC_API_KEY, or CHARGEHAND_ENGINE=rules")
        try:
            # Importing the SDK takes a second and 70 MB; who calls no model goes without.
            import anthropic
            import httpx2
        except ImportError:
            raise ModelMisused(
                "the SDK is not installed; it comes with chargehand[claude]"
            ) from None
        self._sdk: Any = anthropic
        self._models = given.models()
        self._faults = Faults(anthropic, httpx2, key)
        self._schemas: dict[type, dict[str, Any]] = {}
        self._client: Any = anthropic.Anthropic(
            api_key=key,
            base_url=given.anthropic_base_url,
            # Waiting and trying again is done here, in one place, and within the step's time.
            max_retries=0,
        )

    def close(self) -> None:
        """Close the connections that are kept for further calls."""
        self._client.close()

    def ask(self, request: Request, left: Left) -> Reply:
        """Return the model's answer, trying again while that may help and time remains."""
        pause = FIRST_PAUSE
        for retries in range(TRIES):
            made = self._once(request, left)
            if isinstance(made, Reply):
                return replace(made, usage=made.usage.model_copy(update={"retries": retries}))
            if not isinstance(made, ModelUnavailable):
                raise made
            spread = pause * (0.5 + random.random())  # noqa: S311 - it only spreads the load
            wait = max(spread, made.retry_after or 0.0)
            if retries == TRIES - 1 or wait > min(LONGEST_PAUSE, left()):
                raise _last(made, retries)
            logger.warning("the model's service: %s; trying again in %.1f s", made, wait)
            _rest(wait, left)
            pause *= 2
        raise AssertionError("the last try raises")

    def schema(self, contract: type) -> dict[str, Any]:
        """Return the JSON schema of a pydantic type, as the service takes it."""
        if contract not in self._schemas:
            self._schemas[contract] = self._sdk.transform_schema(contract)
        return self._schemas[contract]

    def _once(self, request: Request, left: Left) -> Reply | Exception:
        """Return a reply or what went wrong.

        An error raised here would keep the SDK's exception as its context, which holds the key.
        """
        model = self._models[request.tier]
        seconds = left()
        timeout = self._sdk.Timeout(seconds, connect=min(CONNECTING, seconds))
        given = {"model": model, "timeout": timeout, **wire.parameters(request)}
        try:
            if request.max_tokens > LONG:
                return self._streamed(given, model, left)
            message = self._client.messages.create(**given)
            return wire.reply(message, model, getattr(message, "_request_id", None))
        except Exception as error:
            return self._faults.mapped(error, model)

    def _streamed(self, given: dict[str, Any], model: str, left: Left) -> Reply | Exception:
        """Return an answer that comes piece by piece, while there is time for a next one."""
        with self._client.messages.stream(**given) as stream:
            for _ in stream:
                if over := _over(left):
                    return over
            return wire.reply(stream.get_final_message(), model, stream.request_id)


def _over(left: Left) -> Exception | None:
    """Return why there is no time left, if so."""
    try:
        left()
    except Exception as error:
        return error
    return None


def _last(error: ModelUnavailable, retries: int) -> ModelUnavailable:
    tries = "1 try" if retries == 0 else f"{retries + 1} tries"
    return ModelUnavailable(f"{error} (after {tries})", retry_after=error.retry_after)


def _rest(seconds: float, left: Left) -> None:
    """Wait, but no longer than there is time, and not for a job that was stopped."""
    ends = time.monotonic() + seconds
    while (wait := ends - time.monotonic()) > 0:
        time.sleep(min(wait, 0.5, left()))

"""What went wrong at the model's service, in our own errors: none of them carries the key."""

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

from common.errors import ModelError, ModelMisused, ModelUnavailable

RETRIED = (408, 409, 429)
"""Refusals that may pass; so do all errors of the service itself."""
REMEDIES = {
    401: "the API key is wrong; check ANTHROPIC_API_KEY",
    402: "the account cannot pay; check its billing, or use rules",
    403: "the API key may not do this",
    413: "the request is too large",
}
SAID = 200
"""How much of the service's own words is kept."""


@dataclass(frozen=True)
class Faults:
    """Turns the exceptions of the SDK into ours."""

    sdk: Any
    http: Any
    """The SDK's HTTP client, whose errors come through when a stream breaks."""
    secret: str

    def mapped(self, error: Exception, model: str) -> ModelError:
        """Return what an exception means. An exception of the SDK holds the key: it ends here."""
        sdk = self.sdk
        if isinstance(error, ModelError):
            return error
        if isinstance(error, (sdk.APITimeoutError, self.http.TimeoutException)):
            return ModelUnavailable("no answer within the time that was left")
        if isinstance(error, (sdk.APIConnectionError, self.http.HTTPError)):
            return ModelUnavailable(f"no connection ({type(error).__name__})")
        if isinstance(error, sdk.APIStatusError):
            return self._by_status(error, model)
        if isinstance(error, (json.JSONDecodeError, sdk.APIResponseValidationError)):
            return ModelUnavailable("the answer is cut off or no JSON")
        if isinstance(error, (AttributeError, TypeError, ValueError, AssertionError)):
            # The SDK trusts what it is sent; what it then stumbles over tells the same.
            return ModelUnavailable(f"the answer has the wrong shape ({type(error).__name__})")
        return ModelError(f"the call broke: {type(error).__name__}")

    def _by_status(self, error: Any, model: str) -> ModelError:
        status, kind = error.status_code, str(getattr(error, "type", None) or "")
        if "spend_limit" in kind or "spend_limit" in str(error.body):
            return ModelMisused("the spend limit of the account is reached; raise it, or use rules")
        # An error in the middle of a stream comes with the status of its beginning.
        if status in RETRIED or status >= 500 or status < 400:
            return ModelUnavailable(f"{status} {kind}".strip(), retry_after=_retry_after(error))
        if status == 404:
            said = f"no model {model!r}; check CHARGEHAND_MODEL_* and ANTHROPIC_BASE_URL"
            return ModelMisused(said)
        return ModelMisused(REMEDIES.get(status) or f"the service refused: {self._said(error)}")

    def _said(self, error: Any) -> str:
        """Return the service's words; a server that repeats what it was sent tells no secret."""
        body = error.body if isinstance(error.body, dict) else {}
        inner = body.get("error")
        words = inner.get("message") if isinstance(inner, dict) else None
        text = " ".join(str(words or error.status_code).split())
        return text.replace(self.secret, "***")[:SAID]


def _retry_after(error: Any) -> float | None:
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None

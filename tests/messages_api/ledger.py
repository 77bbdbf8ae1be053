"""What the API was asked and what it answered, counted for tests and for people."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from tests.messages_api.scenario import Limits

SECRET = ("authorization", "x-api-key")
WINDOW = 60.0


@dataclass
class Recorded:
    """One request and what became of it; the key in its headers is masked."""

    id: str
    headers: dict[str, str]
    body: Any
    status: int | None = None  # None while it is under way, and when no answer was sent
    message: str | None = None  # of the error, if it was one
    usage: dict[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model")) if isinstance(self.body, dict) else ""


class Ledger:
    """All requests of one run; safe to read and write from many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: list[Recorded] = []
        self._in_flight = 0
        self._max_in_flight = 0
        self._since = time.time()
        self._used: Counter[tuple[str, str]] = Counter()

    @property
    def requests(self) -> list[Recorded]:
        """The requests so far, in the order in which they came."""
        with self._lock:
            return list(self._requests)

    @contextmanager
    def record(self, headers: Mapping[str, str], body: Any) -> Iterator[Recorded]:
        """Write a request down, and count it as in flight until it is answered."""
        shown = {name: "***" if name in SECRET else value for name, value in headers.items()}
        with self._lock:
            entry = Recorded(f"req_{len(self._requests) + 1:06}", shown, body)
            self._requests.append(entry)
            self._in_flight += 1
            self._max_in_flight = max(self._max_in_flight, self._in_flight)
        try:
            yield entry
        finally:
            with self._lock:
                self._in_flight -= 1

    def rate_limits(self, entry: Recorded, limits: Limits) -> dict[str, str]:
        """Count a request against the minute's limits and return the headers that say so."""
        usage = entry.usage
        spent = {
            "requests": 1,
            "input_tokens": usage.get("input_tokens", 0)
            + usage.get("cache_creation_input_tokens", 0),
            "output_tokens": usage.get("output_tokens", 0),
        }
        with self._lock:
            if time.time() - self._since > WINDOW:
                self._since, self._used = time.time(), Counter()
            self._used.update({(entry.model, kind): amount for kind, amount in spent.items()})
            used = {kind: self._used[entry.model, kind] for kind in spent}
            reset = datetime.fromtimestamp(self._since + WINDOW, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        headers = {}
        for kind, limit in limits.model_dump().items():
            name = f"anthropic-ratelimit-{kind.replace('_', '-')}"
            headers[f"{name}-limit"] = str(limit)
            headers[f"{name}-remaining"] = str(max(0, limit - used[kind]))
            headers[f"{name}-reset"] = reset
        return headers

    def stats(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        requests = self.requests
        tokens: Counter[str] = Counter()
        for entry in requests:
            tokens.update({k: v for k, v in entry.usage.items() if isinstance(v, int)})
        return {
            "requests": len(requests),
            "by_model": dict(Counter(entry.model for entry in requests)),
            "by_status": dict(Counter(str(entry.status) for entry in requests)),
            "tokens": dict(tokens),
            "cache_hits": sum(
                entry.usage.get("cache_read_input_tokens", 0) > 0 for entry in requests
            ),
            "max_in_flight": self._max_in_flight,
        }

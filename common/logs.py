"""The log of a process: one line for each event, as text or JSON, and no secret in any of them."""

import json
import logging
import os
import re
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from common.settings import settings

PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
LONGEST = 20_000
"""How many characters of a message or a traceback are kept."""
SHORTEST_SECRET = 6
"""A password with fewer characters is no secret, and would black out ordinary words."""
HIDDEN = "***"

_SECRETS = (
    # The password of a URL. It may hold anything but a space: up to the last @ it is hidden.
    (re.compile(r"(?<=://)([^\s:/@]*):\S+@"), rf"\1:{HIDDEN}@"),
    # What is named as a secret: password=..., "api_key": "...", x-api-key: ..., token ...
    (
        re.compile(
            r"(?i)((?:api[_-]?key|passw(?:or)?d|secret|access[_-]?key|auth[_-]?token"
            r"|access[_-]?token)[\"']?\s*(?:[:=]|\bis\b)\s*[\"']?)[^\s\"',;&)}\]]{4,}"
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/-]{8,}=*"), rf"\1 {HIDDEN}"),
    # What looks like a key by itself: of Anthropic and OpenAI, GitHub, GitLab, Slack, Google, AWS,
    # npm, Hugging Face, Stripe; a JSON web token; a private key.
    (
        re.compile(
            r"\b(?:sk-[\w-]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}"
            r"|xox[a-z]-[\w-]{10,}|AIza[\w-]{30,}|(?:AKIA|ASIA)[A-Z0-9]{16}|npm_\w{30,}|hf_\w{20,}"
            r"|[rs]k_(?:live|test)_\w{10,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)"
        ),
        HIDDEN,
    ),
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*KEY-----|\Z)", re.S),
        HIDDEN,
    ),
)

_job: ContextVar[str] = ContextVar("job", default="")
_step: ContextVar[str] = ContextVar("step", default="")


@contextmanager
def about(job: str, step: str = "") -> Iterator[None]:
    """Have every line that is logged inside name this job and step."""
    job_before, step_before = _job.set(job), _step.set(step)
    try:
        yield
    finally:
        _job.reset(job_before)
        _step.reset(step_before)


def start(level: int = logging.INFO) -> None:
    """Log to standard error, in the form that the settings ask for."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter(settings().log))
    logging.basicConfig(level=level, handlers=[handler])
    logging.captureWarnings(True)


def formatter(form: Literal["plain", "json"]) -> logging.Formatter:
    """Return what turns a record into a line without secrets."""
    mask = Mask(_known())
    return JsonLines(mask) if form == "json" else OneLine(mask)


def _known() -> Iterator[str]:
    """Return all secrets of the settings, and the parts of them that are secret by themselves."""
    given = settings()
    for name in type(given).model_fields:
        value = getattr(given, name)
        if isinstance(value, SecretStr):
            secret = value.get_secret_value()
            # A URL's password, as it is written there and as it is sent; or that of user:password.
            password = urlsplit(secret).password if "://" in secret else secret.partition(":")[2]
            yield from (secret, password or "", unquote(password or ""))


class Mask:
    """Hides what must not be read in a log: secrets that are known, and what looks like one."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        long_enough = {secret for secret in known if len(secret) >= SHORTEST_SECRET}
        self._known = sorted(long_enough, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """Return the text without secrets, and of bounded length."""
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]} ... ({len(text) - LONGEST} more characters)"
        for secret in self._known:
            text = text.replace(secret, HIDDEN)
        for pattern, instead in _SECRETS:
            text = pattern.sub(instead, text)
        return text


class OneLine(logging.Formatter):
    """Keeps a message on one line; only the traceback of a fault has more."""

    def __init__(self, mask: Mask) -> None:
        super().__init__(PLAIN)
        self._mask = mask

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """Return the message without the line feeds that Celery and Flower put in."""
        return " ".join(super().formatMessage(record).split())

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the traceback if there is one."""
        return self._mask(super().format(record))


class JsonLines(logging.Formatter):
    """One JSON object on one line for each record, for programs that collect logs."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask
        self._pod = f"{socket.gethostname()}-{os.getpid()}"

    def format(self, record: logging.LogRecord) -> str:
        """Return the object; job, step and error only where there is one."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": self._mask(" ".join(record.getMessage().split())),
            "job": _job.get(),
            "step": _step.get(),
            "pod": self._pod,
            "error": self._mask(self._error(record)),
        }
        return json.dumps({k: v for k, v in line.items() if v}, ensure_ascii=False)

    def _error(self, record: logging.LogRecord) -> str:
        said = self.formatException(record.exc_info) if record.exc_info else record.exc_text or ""
        return f"{said}\n{record.stack_info}" if record.stack_info else said

"""What is logged is one line, says which job it is about, and holds no secret."""

import io
import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import logs
from common.logs import HIDDEN, JsonLines, Mask, OneLine
from common.settings import settings

ORDINARY = [
    "Redis at redis://127.0.0.1:6379/0 is back after 2.1 s",
    "step logic.0001 of job 0123456789ab is given back",
    "the outcome of 0123456789ab one/1 4f9d0c2be81f2b6a came too late to count",
    "no specialist 'secruity' in team 'code-review'; it has: logic, security",
    "task-skipped: sk-1 and risk-averse-specialists-and-more",
    "metrics at http://127.0.0.1:9464/metrics",
    "mail to someone@example.com about http://example.com/a",
]
SECRETS = [
    ("redis://:hunter2secret@redis:6379/0", "hunter2secret"),
    ("cannot reach rediss://app:p@ss:w0rd/x@redis:6379", "p@ss:w0rd/x"),
    ("https://user:tok3n-value@example.com/repo.git", "tok3n-value"),
    ("redis://h/0?password=hunter2secret&db=1", "hunter2secret"),
    ("{'x-api-key': 'abcdef123456'}", "abcdef123456"),
    ('{"api_key": "abcdef123456"}', "abcdef123456"),
    ("ANTHROPIC_API_KEY=abcdef123456", "abcdef123456"),
    ("Authorization: Bearer abc.def-ghi_123", "abc.def-ghi_123"),
    ("key sk-ant-api03-AbCdEf_123456-xyz was refused", "sk-ant-api03-AbCdEf_123456-xyz"),
    ("push with ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789"),
    ("AKIAIOSFODNN7EXAMPLE in a file", "AKIAIOSFODNN7EXAMPLE"),
    ("glpat-0123456789abcdefghij", "glpat-0123456789"),
    ("xoxb-123456789012-abcdef", "xoxb-123456789012"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0x.c2lnbmF0dXJl", "eyJzdWIiOiIxIn0x"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
        "MIIEow",
    ),
]


def record(message: str, *args: Any, **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord("celery", logging.ERROR, "", 1, message, args, None)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(("text", "secret"), SECRETS)
@pytest.mark.parametrize("form", [OneLine, JsonLines])
def test_a_secret_is_not_logged(form: Any, text: str, secret: str) -> None:
    line = form(Mask()).format(record("it broke: %s", text))

    assert secret not in line
    assert HIDDEN in line


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_secret_is_logged_as_it_is(text: str) -> None:
    assert Mask()(text) == text


@given(st.text(st.characters(codec="ascii", exclude_categories=["Z", "C"]), min_size=8))
def test_no_password_gets_through_in_a_url(password: str) -> None:
    shown = Mask()(f"Redis at redis://user:{password}@redis.example/0 is away")

    assert password not in shown
    assert shown.startswith("Redis at redis://user:***@")


def test_a_secret_in_a_traceback_is_not_logged() -> None:
    try:
        raise ValueError("redis://:hunter2secret@redis/0")
    except ValueError as error:
        fields = {"exc_info": (type(error), error, error.__traceback__)}

    for form in (OneLine, JsonLines):
        assert "hunter2secret" not in form(Mask()).format(record("broke", **fields))


def test_the_secrets_of_the_settings_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARGEHAND_REDIS_URL", "redis://:so%2Fmething@redis:6379/0")

    form = logs.formatter("plain")

    for leaked in ("so%2Fmething", "so/mething"):
        assert leaked not in form.format(record("AUTH %s was refused", leaked))


def test_a_message_has_a_bound() -> None:
    line = JsonLines(Mask()).format(record("x" * 1_000_000))

    assert len(line) < 2 * logs.LONGEST
    assert "980000 more characters" in line


def test_a_log_message_of_a_library_is_one_line() -> None:
    made = record("Cannot connect.\nTrying again\n")

    assert OneLine(Mask()).format(made).endswith("ERROR celery: Cannot connect. Trying again")
    assert "\n" not in JsonLines(Mask()).format(made)


def test_a_line_of_json_names_its_job_step_and_pod() -> None:
    form = JsonLines(Mask())

    with logs.about("job0000001", "logic.0001"):
        inside = json.loads(form.format(record("it %s", "ran", created=0.5, msecs=500)))
    outside = json.loads(form.format(record("idle")))

    pod = inside.pop("pod")
    assert pod.count("-") >= 1
    assert inside == {
        "time": "1970-01-01T00:00:00.500Z",
        "level": "ERROR",
        "logger": "celery",
        "message": "it ran",
        "job": "job0000001",
        "step": "logic.0001",
    }
    assert set(outside) == {"time", "level", "logger", "message", "pod"}


def test_the_setting_chooses_the_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHARGEHAND_LOG", "json")
    settings.cache_clear()
    root = logging.RootLogger(logging.INFO)
    monkeypatch.setattr(logging, "root", root)
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)

    logs.start()
    logging.captureWarnings(False)
    root.warning("hello")

    assert json.loads(stream.getvalue())["message"] == "hello"

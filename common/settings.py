"""The environment, read once. Every setting is a variable with the prefix `CHARGEHAND_`."""

import os
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from common.contracts import Tier
from common.errors import InputError

DEFAULT_REDIS_URL = "redis://127.0.0.1:6379/0"


def _default_home() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "chargehand"


class Settings(BaseSettings):
    """What can be set from outside."""

    model_config = SettingsConfigDict(
        env_prefix="CHARGEHAND_", frozen=True, hide_input_in_errors=True
    )

    redis_url: SecretStr | None = None
    """The Redis that holds queues and jobs: redis://, rediss:// or unix://."""
    teams: Annotated[tuple[Path, ...], NoDecode] = ()
    """Further folders with teams, separated like PATH."""
    home: Path = Field(default_factory=_default_home)
    """Where the local stack keeps its state."""
    job_ttl: int = Field(default=7 * 86_400, ge=60)
    """Seconds for which a job and all that belongs to it is kept."""
    result_limit: int = Field(default=2_000_000, ge=1_000)
    """The most bytes that a step's outcome may have."""

    engine: Literal["auto", "claude", "rules"] = "auto"
    """How planner, specialists and aggregator think; `auto` asks the model when there is a key."""
    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    """The key of the model's service."""
    anthropic_base_url: str | None = Field(default=None, validation_alias="ANTHROPIC_BASE_URL")
    """Another service that speaks the same protocol."""
    model_haiku: str = "claude-haiku-5-5"
    """The model for what is small and frequent."""
    model_sonnet: str = "claude-sonnet-5-5"
    """The model for most work."""
    model_opus: str = "claude-opus-5-5"
    """The model for what needs deeper thought."""
    grace: float = Field(default=25.0, ge=0)
    """Seconds that running steps may take to finish when their pod is told to stop."""
    events: bool = False
    """Send Celery's task events from the start, before Flower asks for them."""
    flower_auth: SecretStr | None = None
    """Who may see Flower, as user:password; needed where others than this machine reach it."""
    log: Literal["plain", "json"] = "plain"
    """How a process logs: as `plain` text, or as `json`, one object on each line."""
    metrics_port: int = Field(default=0, ge=0, le=65_535)
    """Where a process serves its metrics, or the next free port after it; 0 for nowhere."""
    metrics_address: str = "127.0.0.1"
    """The address that metrics are served on; they need no password."""
    crash: str = ""
    """For tests: the point at which this process dies (see `common.crash`)."""

    @field_validator("teams", mode="before")
    @classmethod
    def _split_path(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(Path(part) for part in value.split(os.pathsep) if part)
        return value

    @field_validator("redis_url")
    @classmethod
    def _known_scheme(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value.get_secret_value())
            _ = parts.port
        except ValueError:
            # Python's own message may repeat the host with its password.
            raise ValueError("is no URL; give redis://HOST:PORT/DB") from None
        if parts.scheme not in ("redis", "rediss", "unix"):
            raise ValueError(f"scheme {parts.scheme!r}; give redis://, rediss:// or unix://")
        if "@" in parts.path + parts.query + parts.fragment:
            # Half of the password would count as path, and be shown as such.
            raise ValueError("its password has a '/', '?' or '#'; write %2F, %3F or %23")
        return value

    @field_validator("flower_auth")
    @classmethod
    def _one_login(cls, value: SecretStr | None) -> SecretStr | None:
        # Browsers and Flower agree on these characters only.
        if value and not re.fullmatch(r"[!-9;-~]+:[!-~]+", value.get_secret_value()):
            raise ValueError("give user:password, in ASCII and without spaces")
        return value

    def models(self) -> dict[Tier, str]:
        """Return the model of each tier."""
        return {"haiku": self.model_haiku, "sonnet": self.model_sonnet, "opus": self.model_opus}

    def thinks(self) -> bool:
        """Tell whether a model is to be asked."""
        key = self.anthropic_api_key
        # A variable that is set to nothing is no key.
        return self.engine == "claude" or (
            self.engine == "auto" and key is not None and bool(key.get_secret_value())
        )

    def redis(self) -> str:
        """Return the Redis URL, password included: for connecting, never for showing."""
        return self.redis_url.get_secret_value() if self.redis_url else DEFAULT_REDIS_URL


@cache
def settings() -> Settings:
    """Return the settings of this process."""
    try:
        return Settings()
    except ValidationError as error:
        # The input is left out of the message: it may hold a password.
        faults = "; ".join(
            f"CHARGEHAND_{str(e['loc'][0]).upper()}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors(include_input=False)
        )
        raise InputError(f"wrong settings in the environment: {faults}") from None


def unset(*variables: str) -> None:
    """Take variables out of the environment, so that no library in this process reads them."""
    for name in variables:
        os.environ.pop(name, None)


def tracing_wanted() -> bool:
    """Tell whether one of OpenTelemetry's own variables says where traces go."""
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return any(os.environ.get(name) for name in endpoints)


def without_password(url: str) -> str:
    """Return a URL that can be shown."""
    url = re.sub(r"(?<=[?&]password=)[^&#]*", "***", url)
    parts = urlsplit(url)
    if parts.password is None:
        return url
    netloc = parts.netloc.rsplit("@", 1)[1]
    return parts._replace(netloc=f"{parts.username or ''}:***@{netloc}").geturl()

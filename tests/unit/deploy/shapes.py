"""The shapes of files that have no schema at hand: Compose, and the resources of two operators.

Each is what we use of it and no more, so that a misspelt or misplaced field is found.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
Span = Annotated[str, Field(pattern=r"^\d+(s|m|h|d)$")]
Number = Annotated[str, Field(pattern=r"^\d+(\.\d+)?$")]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Build(Shape):
    context: Literal["."]
    dockerfile: str


class Healthcheck(Shape):
    test: list[str] = Field(min_length=2)
    interval: Span
    timeout: Span
    retries: int
    start_period: Span


class Condition(Shape):
    condition: Literal["service_healthy", "service_started"]


class Mounted(Shape):
    source: str
    target: str


class Logging(Shape):
    driver: Literal["json-file"]
    options: dict[str, str]


class Service(Shape):
    image: str
    build: Build | None = None
    command: list[str] | None = None
    user: str | None = None
    environment: dict[str, str | None] = Field(default_factory=dict)
    configs: list[Mounted] = Field(default_factory=list)
    volumes: list[str] = Field(default_factory=list)
    ports: list[str] = Field(default_factory=list)
    profiles: list[Literal["monitoring"]] = Field(default_factory=list)
    depends_on: dict[str, Condition] | list[str] = Field(default_factory=list)
    healthcheck: Healthcheck | None = None
    stop_grace_period: Span | None = None
    restart: Literal["unless-stopped"]
    init: Literal[True]
    read_only: Literal[True]
    tmpfs: list[str]
    cap_drop: list[Literal["ALL"]] = Field(min_length=1)
    security_opt: list[Literal["no-new-privileges:true"]] = Field(min_length=1)
    pids_limit: int
    mem_limit: str | None = Field(default=None, pattern=r"^\d+[mg]$")
    logging: Logging


class ConfigFile(Shape):
    file: str


class Compose(Shape):
    name: Name
    services: dict[Name, Service]
    configs: dict[str, ConfigFile]
    volumes: dict[Name, None]
    contained: object = Field(alias="x-contained")
    environment: object = Field(alias="x-environment")
    process: object = Field(alias="x-process")


class Metadata(Shape):
    name: Name
    labels: dict[str, str]


class Target(Shape):
    name: Name


class PrometheusTrigger(Shape):
    serverAddress: str = Field(pattern=r"^http://[\w.-]+:\d+$")  # noqa: N815
    query: str
    threshold: Number
    activationThreshold: Number  # noqa: N815
    ignoreNullValues: Literal["false"]  # noqa: N815


class ApiTrigger(Shape):
    url: str = Field(pattern=r"^http://[\w.-]+:9464/load/\w+$")
    valueLocation: str  # noqa: N815
    targetValue: Number  # noqa: N815
    activationTargetValue: Number  # noqa: N815


class ListTrigger(Shape):
    address: str = Field(pattern=r"^[\w.-]+:6379$")
    listName: str  # noqa: N815
    listLength: Number  # noqa: N815
    activationListLength: Number  # noqa: N815


class Trigger(Shape):
    type: Literal["prometheus", "metrics-api", "redis"]
    name: Name
    metricType: Literal["AverageValue", "Value"] | None = None  # noqa: N815
    metadata: PrometheusTrigger | ApiTrigger | ListTrigger
    authenticationRef: Target | None = None  # noqa: N815


class Policy(Shape):
    type: Literal["Percent", "Pods"]
    value: int
    periodSeconds: int  # noqa: N815


class Rules(Shape):
    stabilizationWindowSeconds: int  # noqa: N815
    policies: list[Policy] = Field(default_factory=list)


class Behaviour(Shape):
    scaleUp: Rules | None = None  # noqa: N815
    scaleDown: Rules  # noqa: N815


class HpaConfig(Shape):
    behavior: Behaviour


class Advanced(Shape):
    horizontalPodAutoscalerConfig: HpaConfig  # noqa: N815


class Scaling(Shape):
    scaleTargetRef: Target  # noqa: N815
    pollingInterval: int  # noqa: N815
    cooldownPeriod: int  # noqa: N815
    minReplicaCount: Literal[0, 1]  # noqa: N815
    maxReplicaCount: int  # noqa: N815
    advanced: Advanced | None = None
    triggers: list[Trigger] = Field(min_length=1)


class ScaledObject(Shape):
    apiVersion: Literal["keda.sh/v1alpha1"]  # noqa: N815
    kind: Literal["ScaledObject"]
    metadata: Metadata
    spec: Scaling


class SecretParameter(Shape):
    parameter: Literal["username", "password"]
    name: Name
    key: str


class Authentication(Shape):
    secretTargetRef: list[SecretParameter]  # noqa: N815


class TriggerAuthentication(Shape):
    apiVersion: Literal["keda.sh/v1alpha1"]  # noqa: N815
    kind: Literal["TriggerAuthentication"]
    metadata: Metadata
    spec: Authentication


class Expression(Shape):
    key: str
    operator: Literal["In"]
    values: list[str]


class Selector(Shape):
    matchExpressions: list[Expression]  # noqa: N815


class Scraped(Shape):
    port: str
    path: str
    interval: Span


class Monitoring(Shape):
    selector: Selector
    podMetricsEndpoints: list[Scraped]  # noqa: N815


class PodMonitor(Shape):
    apiVersion: Literal["monitoring.coreos.com/v1"]  # noqa: N815
    kind: Literal["PodMonitor"]
    metadata: Metadata
    spec: Monitoring


CUSTOM: dict[str, type[Shape]] = {
    "ScaledObject": ScaledObject,
    "TriggerAuthentication": TriggerAuthentication,
    "PodMonitor": PodMonitor,
}

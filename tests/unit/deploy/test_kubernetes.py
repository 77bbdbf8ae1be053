"""deploy/k8s, resolved and checked without a cluster."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml
from pydantic import ValidationError
from typer.testing import CliRunner

from chargehand.stack import pools
from common.settings import Settings
from common.store import Store
from supervisor.gauges import FAMILIES, FleetGauges
from tests.unit.deploy.kustomize import Manifest, build, by_name, containers, pod
from tests.unit.deploy.shapes import CUSTOM

ROOT = Path(__file__).resolve().parents[3]
K8S = ROOT / "deploy" / "k8s"
QUEUES = pools.known(())
ALTERNATIVES = ("keda", "keda-metrics-api", "keda-redis-list")
OVERLAYS = {
    "small": build(K8S / "overlays" / "small"),
    "production": build(K8S / "overlays" / "production"),
}
COMPONENTS = {name: build(K8S / "components" / name) for name in ALTERNATIVES}
EVERYTHING = [*OVERLAYS.items(), *COMPONENTS.items()]
ALL = [
    pytest.param(m, id=f"{o}-{m['kind']}-{m['metadata']['name']}")
    for o, ms in EVERYTHING
    for m in ms
]
RUNNING = [p for p in ALL if pod(p.values[0])]
OURS = [p for p in RUNNING if p.values[0]["kind"] == "Deployment"]
SCHEMA = json.loads((Path(__file__).parent / "kubernetes-1.34.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator
SHORT = {"v1": "core.v1", "apps/v1": "apps.v1", "policy/v1": "policy.v1"}
SHORT["networking.k8s.io/v1"] = "networking.v1"
SCALED = [
    pytest.param(m, id=f"{name}-{m['metadata']['name']}")
    for name, ms in COMPONENTS.items()
    for m in ms
    if m["kind"] == "ScaledObject"
]


def _spec(**overlay: str) -> Manifest:
    return by_name(OVERLAYS[overlay["of"]])[(overlay["kind"], overlay["name"])]["spec"]


def _check(manifest: Manifest) -> None:
    """Raise unless a manifest has the fields of its kind, and no others."""
    if shape := CUSTOM.get(manifest["kind"]):
        shape.model_validate(manifest)
        return
    kind = f"io.k8s.api.{SHORT[manifest['apiVersion']]}.{manifest['kind']}"
    schema = {**SCHEMA, "$ref": f"#/$defs/{kind}"}
    if fault := jsonschema.exceptions.best_match(VALIDATOR(schema).iter_errors(manifest)):
        raise fault


@pytest.mark.parametrize("manifest", ALL)
def test_every_manifest_has_the_shape_that_its_kind_has(manifest: Manifest) -> None:
    _check(manifest)


@pytest.mark.parametrize("kind", ["Deployment", "NetworkPolicy", "ScaledObject", "PodMonitor"])
def test_a_misspelt_field_would_be_found(kind: str) -> None:
    right = next(m for m in OVERLAYS["production"] if m["kind"] == kind)
    wrong = {**right, "spec": {**right["spec"], "selektor": 1}}

    with pytest.raises((jsonschema.ValidationError, ValidationError), match="selektor"):
        _check(wrong)


@pytest.mark.skipif(not shutil.which("kubectl"), reason="compares with what kubectl makes")
@pytest.mark.parametrize("folder", ["overlays/small", "overlays/production"])
def test_kubectl_resolves_an_overlay_to_the_same(folder: str) -> None:
    printed = subprocess.run(
        ["kubectl", "kustomize", str(K8S / folder)], capture_output=True, text=True, check=True
    )

    theirs = by_name(yaml.load_all(printed.stdout, yaml.CSafeLoader))

    assert _ordered(theirs) == _ordered(by_name(build(K8S / folder)))


def _ordered(value: Any) -> Any:
    """Return the same with named things in order of their names: their order means nothing."""
    if isinstance(value, dict):
        return {name: _ordered(each) for name, each in value.items()}
    if isinstance(value, list):
        named = value and all(isinstance(each, dict) and "name" in each for each in value)
        ordered = sorted(value, key=lambda each: each["name"]) if named else value
        return [_ordered(each) for each in ordered]
    return value


@pytest.fixture(scope="module")
def generate() -> Any:
    """The script that writes what there is once for each pool."""
    spec = importlib.util.spec_from_file_location("generate", K8S / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_what_is_written_for_each_pool_is_fresh(generate: Any) -> None:
    for template, target in generate.TARGETS.items():
        fresh = generate.manifests(template, generate.least(()))
        assert target.read_text(encoding="utf-8") == fresh, "stale; run deploy/k8s/generate.py"


def test_a_pool_whose_steps_have_a_backup_keeps_a_pod(generate: Any, tmp_path: Path) -> None:
    """Else its steps went to the backup, and nothing would ever wake it up."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    (folder / "prompt.md").write_text("You are part of a test.", encoding="utf-8")
    one = {
        "description": "Does its part.",
        "prompt": "prompt.md",
        "instruction": "Read all of these files from end to end.",
        "criterion": "Every file was read to its end.",
        "tools": ["secrets"],
    }
    specialists = {"first_one": {**one, "backups": ["second"]}, "second": one}
    made = {
        "description": "Two that help each other.",
        "final_instruction": "Put together what came back.",
        "plan": {"by": "files"},
        "specialists": specialists,
    }
    (folder / "team.yaml").write_text(yaml.safe_dump(made), encoding="utf-8")

    kept = generate.least((tmp_path,))
    scaled = by_name(yaml.safe_load_all(generate.manifests("keda", kept)))

    assert (kept["first_one"], kept["second"], kept["security"]) == (1, 0, 0)
    assert scaled[("ScaledObject", "chargehand-first-one")]["spec"]["minReplicaCount"] == 1


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_queue_of_the_shipped_teams_has_a_pool_that_may_be_drained(overlay: str) -> None:
    there = by_name(OVERLAYS[overlay])
    served = [
        container["args"][1]
        for (kind, _), manifest in there.items()
        if kind == "Deployment"
        for container in containers(manifest)
        if container["args"][0] == "worker"
    ]

    assert sorted(served) == sorted(QUEUES)
    assert {("PodDisruptionBudget", f"chargehand-{q}") for q in QUEUES} <= set(there)


@pytest.mark.parametrize("manifest", OURS)
def test_every_container_of_ours_runs_a_command_that_exists(
    manifest: Manifest, commands: typer.Typer
) -> None:
    for container in containers(manifest):
        ended = CliRunner().invoke(commands, container["args"])
        assert ended.exit_code == 0, ended.output or ended.exception


@pytest.mark.parametrize("manifest", OURS)
def test_every_variable_is_a_setting_and_has_a_value_that_is_allowed(manifest: Manifest) -> None:
    known = {f"CHARGEHAND_{name.upper()}" for name in Settings.model_fields}
    known |= {str(f.validation_alias) for f in Settings.model_fields.values() if f.validation_alias}
    shared = _shared_settings()

    names = {each["name"] for c in containers(manifest) for each in c["env"]}

    assert names | set(shared) <= known
    Settings(**{name.removeprefix("CHARGEHAND_").lower(): value for name, value in shared.items()})


def _shared_settings() -> dict[str, str]:
    found: dict[str, str] = by_name(OVERLAYS["small"])[("ConfigMap", "chargehand")]["data"]
    return found


@pytest.mark.parametrize("manifest", ALL)
def test_secrets_are_named_and_never_written(manifest: Manifest) -> None:
    assert manifest["kind"] != "Secret"
    for container in containers(manifest):
        for variable in container.get("env", ()):
            if re.search("PASSWORD|KEY|AUTH|URL", variable["name"]):
                assert set(variable) == {"name", "valueFrom"}
                assert set(variable["valueFrom"]) == {"secretKeyRef"}
    written = re.findall(r"://[^/\s\"]*:[^@\s\"]+@", json.dumps(manifest))
    assert written == []


@pytest.mark.parametrize("manifest", ALL)
def test_no_manifest_names_its_namespace(manifest: Manifest) -> None:
    assert "namespace" not in manifest["metadata"]


@pytest.mark.parametrize("manifest", RUNNING)
def test_every_pod_is_confined(manifest: Manifest) -> None:
    spec = pod(manifest)

    assert spec["automountServiceAccountToken"] is False
    assert spec["serviceAccountName"] == "chargehand"
    assert spec["enableServiceLinks"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in containers(manifest):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert "/tmp" in {mount["mountPath"] for mount in container["volumeMounts"]}  # noqa: S108
        assert {mount["name"] for mount in container["volumeMounts"]} <= _volumes(manifest)


def _volumes(manifest: Manifest) -> set[str]:
    claimed = manifest["spec"].get("volumeClaimTemplates", ())
    return {v["name"] for v in pod(manifest)["volumes"]} | {c["metadata"]["name"] for c in claimed}


@pytest.mark.parametrize("manifest", RUNNING)
def test_every_container_is_pinned_bounded_and_probed(manifest: Manifest) -> None:
    for container in containers(manifest):
        assert re.search(r":\d+\.\d+\.\d+", container["image"])
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        # A limit on the processor would slow steps down where nobody else needs it.
        assert set(container["resources"]["limits"]) == {"memory"}
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)


@pytest.mark.parametrize("manifest", OURS)
def test_probes_ask_what_the_process_answers_on_a_port_that_it_has(manifest: Manifest) -> None:
    [container] = containers(manifest)
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    flower = container["args"][0] == "flower"

    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["path"] == ("/healthcheck" if flower else "/healthz")
        assert asked["port"] in ports

    expected = container["args"][-3] if flower else _shared_settings()["CHARGEHAND_METRICS_PORT"]
    assert str(expected) in {str(number) for number in ports.values()}


@pytest.mark.parametrize("manifest", OURS)
def test_a_pod_is_killed_only_after_its_own_grace_has_passed(manifest: Manifest) -> None:
    grace = float(_shared_settings()["CHARGEHAND_GRACE"])

    assert pod(manifest)["terminationGracePeriodSeconds"] >= grace + 10


@pytest.mark.parametrize("manifest", OURS)
def test_a_redis_that_is_away_for_minutes_restarts_no_pod(manifest: Manifest) -> None:
    for container in containers(manifest):
        probe = container["livenessProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] >= 300


@pytest.mark.parametrize("manifest", [p for p in ALL if "selector" in p.values[0].get("spec", {})])
def test_selectors_select_pods_that_there_are(manifest: Manifest) -> None:
    everything = [*OVERLAYS["small"], *OVERLAYS["production"]]
    labels = [m["spec"]["template"]["metadata"]["labels"] for m in everything if pod(m)]
    selector = manifest["spec"]["selector"]

    assert any(_selects(selector, each) for each in labels)


@pytest.mark.parametrize("manifest", [p for p in ALL if p.values[0]["kind"] == "NetworkPolicy"])
def test_network_policies_speak_of_pods_that_there_are(manifest: Manifest) -> None:
    labels = [m["spec"]["template"]["metadata"]["labels"] for m in OVERLAYS["small"] if pod(m)]

    assert any(_selects(manifest["spec"]["podSelector"], each) for each in labels)


def _selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    if not {"matchLabels", "matchExpressions"} & set(selector):
        selector = {"matchLabels": selector}
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(each["key"]) in each["values"] for each in selector.get("matchExpressions", ())
    )


def _allowed(overlay: str, component: str, direction: str) -> list[dict[str, Any]]:
    """Return the rules that a component's pods have for what comes in or goes out."""
    workloads = [m for m in OVERLAYS[overlay] if pod(m)]
    labels = next(
        found
        for m in workloads
        if (found := m["spec"]["template"]["metadata"]["labels"])["app.kubernetes.io/component"]
        == component
    )
    return [
        rule
        for m in OVERLAYS[overlay]
        if m["kind"] == "NetworkPolicy" and _selects(m["spec"]["podSelector"], labels)
        for rule in m["spec"].get(direction, ())
    ]


def _ports(rules: list[dict[str, Any]]) -> set[int]:
    # A rule without ports would allow all of them.
    return {port["port"] for rule in rules for port in rule["ports"]}


@pytest.mark.parametrize(
    ("component", "outward", "inward"),
    [
        ("supervisor", {53, 443, 6379}, {9464}),
        ("pool", {53, 443, 6379}, {9464}),
        ("flower", {53, 6379}, set()),
        ("redis", {53}, {6379}),
    ],
)
def test_pods_reach_and_are_reached_by_nothing_but_what_they_need(
    component: str, outward: set[int], inward: set[int]
) -> None:
    assert _ports(_allowed("small", component, "egress")) == outward
    assert _ports(_allowed("small", component, "ingress")) == inward


def test_in_production_redis_is_outside_and_the_small_overlay_brings_one() -> None:
    assert ("StatefulSet", "chargehand-redis") in by_name(OVERLAYS["small"])
    assert ("StatefulSet", "chargehand-redis") not in by_name(OVERLAYS["production"])
    [rule] = _spec(of="production", kind="NetworkPolicy", name="chargehand-redis-clients")["egress"]
    assert rule["to"] == [{"ipBlock": {"cidr": "192.0.2.0/24"}}]


def test_production_has_a_supervisor_for_when_the_other_is_not_there() -> None:
    assert _spec(of="production", kind="Deployment", name="chargehand-supervisor")["replicas"] == 2
    budget = _spec(of="production", kind="PodDisruptionBudget", name="chargehand-supervisor")
    assert budget["maxUnavailable"] == 1


def test_the_redis_of_the_small_overlay_starts_from_the_files_that_are_tested() -> None:
    there = by_name(OVERLAYS["small"])
    redis = there[("StatefulSet", "chargehand-redis")]
    [container] = containers(redis)

    assert container["command"] == ["sh", "/etc/redis/start.sh"]
    files = there[("ConfigMap", "chargehand-redis")]["data"]
    assert set(files) == {"redis.conf", "start.sh", "users.acl", "users.sh"}
    assert files["start.sh"] == (ROOT / "deploy" / "redis" / "start.sh").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_every_pool_is_scaled_and_by_nobody_else(name: str) -> None:
    scaled = [m for m in COMPONENTS[name] if m["kind"] == "ScaledObject"]
    pools_there = by_name(OVERLAYS["production"])

    assert {m["spec"]["scaleTargetRef"]["name"] for m in scaled} == {
        f"chargehand-{queue}" for queue in QUEUES
    }
    for scaled_one in scaled:
        target = pools_there[("Deployment", scaled_one["spec"]["scaleTargetRef"]["name"])]
        # A number here would be put back at each `kubectl apply`.
        assert "replicas" not in target["spec"]


@pytest.mark.parametrize("scaled", SCALED)
def test_triggers_ask_for_the_queue_that_the_pool_serves(scaled: Manifest) -> None:
    target = by_name(OVERLAYS["production"])[
        ("Deployment", scaled["spec"]["scaleTargetRef"]["name"])
    ]
    [container] = containers(target)
    queue = container["args"][1]

    for trigger in scaled["spec"]["triggers"]:
        asked = json.dumps(trigger["metadata"])
        named = re.findall(r'queue=\\"(\w+)\\"|/load/(\w+)|"listName": "(\w+)"', asked)
        assert {"".join(each) for each in named} == {queue}


def test_triggers_ask_for_metrics_and_fields_that_a_supervisor_has(store: Store) -> None:
    exported = {family.name for family in FAMILIES}
    told = json.loads(FleetGauges(store).load("security").body)

    for name in ("keda", "keda-metrics-api"):
        text = (K8S / "templates" / f"{name}.yaml").read_text(encoding="utf-8")
        assert set(re.findall(r"\bchargehand_\w+", text)) <= exported
        assert set(re.findall(r"valueLocation: (\w+)", text)) <= set(told)


def test_only_work_wakes_a_pool_up_and_only_the_wait_makes_it_larger() -> None:
    for manifest in COMPONENTS["keda"]:
        work, wait = (trigger["metadata"] for trigger in manifest["spec"]["triggers"])
        assert "waiting" in work["query"]
        assert "running" in work["query"]
        assert float(work["activationThreshold"]) == 0
        assert float(work["threshold"]) > 1000
        assert "expected_wait_seconds" in wait["query"]
        assert float(wait["activationThreshold"]) > 1000


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_everything_that_is_referred_to_is_there(overlay: str) -> None:
    there = by_name(OVERLAYS[overlay])
    for manifest in OVERLAYS[overlay]:
        for container in containers(manifest):
            for source in container.get("envFrom", ()):
                assert ("ConfigMap", source["configMapRef"]["name"]) in there
        for volume in pod(manifest).get("volumes", ()):
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in there

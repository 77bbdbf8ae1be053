"""How a tool runs an analyser that is installed as a Python package."""

import importlib.util
import json
import sys
from typing import Any

from common.contracts import Document
from workers.desk import Desk, ToolError, ToolMissing

# `-I` keeps the scratch folder off the import path: a reviewed file that is named like a module
# of the standard library must never be imported by the analyser that reads it.
_PYTHON = (sys.executable, "-I", "-X", "utf8")


def run(desk: Desk, package: str, *arguments: str, codes: tuple[int, ...] = (0, 1)) -> str:
    """Return the output of a package's program, or raise when it is missing or broke."""
    if importlib.util.find_spec(package) is None:
        raise ToolMissing(
            f"package {package!r} is not installed on this pod; install chargehand[analysers]"
        )
    code, output, errors = desk.program([*_PYTHON, "-m", package, *arguments])
    if code not in codes:
        last = " ".join(errors.strip().splitlines()[-1:]) or "no error text"
        raise ToolError(f"{package} ended with exit code {code}: {last[:300]}", transient=True)
    return output


def run_json(desk: Desk, package: str, *arguments: str) -> Any:
    """Return the parsed JSON output of a package's program."""
    output = run(desk, package, *arguments)
    try:
        return json.loads(output)
    except ValueError:
        raise ToolError(f"{package} wrote no valid JSON", transient=True) from None


def write_all(desk: Desk, documents: list[Document]) -> dict[str, Document]:
    """Write the documents to the desk and return them by where they are, in their order."""
    return {str(desk.write(document)): document for document in documents}

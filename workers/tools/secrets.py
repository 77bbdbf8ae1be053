"""Detect-secrets, for credentials in any kind of file."""

import re
from collections.abc import Iterator
from typing import Any

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import programs, tool
from workers.tools.findings import Hit, report
from workers.tools.source import is_test

BY_ITS_SHAPE = 90
"""Keys of known services have a shape of their own, so most detectors are seldom wrong."""
BY_GUESS = {"Secret Keyword": 75, "Basic Auth Credentials": 80, "Base64 High Entropy String": 45}
LESS_SURE = 35
"""In tests and documentation most secrets are made up."""
# Digests and identifiers look like hex secrets far more often than hex secrets occur.
OFF = ("HexHighEntropyString", "IPPublicDetector")
DIGEST = re.compile(r"\bsha(1|256|384|512)[-:]|\b(integrity|checksum|digest)\b", re.IGNORECASE)
PLACEHOLDER = re.compile(
    r"change[-_ ]?me|placeholder|your[-_ ]|<[\w -]+>|\bx{4,}|\*{4,}|example\.(com|org)|dummy"
    r"|://(guest:guest|user(name)?:pass(word)?|root:root|admin:admin)@",
    re.IGNORECASE,
)


@tool("secrets", "Keys, tokens and passwords in files of any language.")
def run(desk: Desk) -> Result:
    """Find credentials; a finding names the place and the kind, never the credential."""
    files = programs.write_all(desk, desk.subjects())
    if not files:
        return Result()
    off = [option for plugin in OFF for option in ("--disable-plugin", plugin)]
    found = programs.run_json(
        desk, "detect_secrets", "--cores", "1", "scan", "--no-verify", *off, "--", *files
    )
    by_path = {document.path: document for document in files.values()}
    return report(desk, _hits(by_path, found["results"]))


def _hits(
    documents: dict[str, Document], found: dict[str, list[dict[str, Any]]]
) -> Iterator[tuple[Document, Hit]]:
    for path, secrets in found.items():
        lines = (documents[path].text or "").split("\n")
        for one in secrets:
            line, kind = one["line_number"], one["type"]
            if not _made_up(lines[line - 1], kind):
                yield documents[path], _hit(path, line, kind)


def _hit(path: str, line: int, kind: str) -> Hit:
    confidence = BY_GUESS.get(kind, BY_ITS_SHAPE)
    if is_test(path) or path.endswith((".md", ".rst", ".txt")):
        confidence -= LESS_SURE
    return Hit(line, f"detect-secrets:{kind}", "hard-coded-secret", max(confidence, 10))


def _made_up(line: str, kind: str) -> bool:
    """Tell whether a guess is a placeholder or a checksum after all."""
    if kind not in BY_GUESS:
        return False
    return bool(PLACEHOLDER.search(line) or (kind.startswith("Base64") and DIGEST.search(line)))

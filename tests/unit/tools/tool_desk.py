"""How tests put one or a few files before a tool."""

from collections.abc import Sequence

from common.contracts import Assignment, Document, Finding, Result, Slice, Span
from workers import tools
from workers.desk import laid_out

LANGUAGES = {
    "py": "python",
    "js": "javascript",
    "ts": "typescript",
    "html": "html",
    "go": "go",
    "java": "java",
    "php": "php",
    "rb": "ruby",
    "rs": "rust",
    "cs": "csharp",
    "kt": "kotlin",
    "sh": "shell",
    "yaml": "yaml",
    "md": "markdown",
}


def document(path: str, text: str, *changed: tuple[int, int], **fields: object) -> Document:
    """A file; no ranges of changed lines mean that all of it is new."""
    values = {
        "path": path,
        "text": text,
        "language": LANGUAGES.get(path.rpartition(".")[2]),
        "lines": text.count("\n") + 1,
        "changed": tuple(Span(start=a, end=b) for a, b in changed) or None,
    }
    return Document.model_validate(values | fields)


def result(name: str, *documents: Document, slices: Sequence[Slice] = ()) -> Result:
    """What a tool says of these files."""
    assignment = Assignment(
        job="job0000001",
        step="step",
        attempt=1,
        team="code_review",
        specialist="lens",
        instruction="Examine these files.",
        criterion="Every line was examined.",
        documents=documents,
        slices=tuple(slices),
    )
    with laid_out(assignment, stopped=lambda: False) as desk:
        return tools.find(name).run(desk)


def found(name: str, text: str, path: str = "shop.py", *changed: tuple[int, int]) -> list[Finding]:
    """What a tool finds in one file."""
    return list(result(name, document(path, text, *changed)).findings)


def places(findings: Sequence[Finding]) -> list[tuple[int, str]]:
    """The line and the category of each finding."""
    return [(f.span.start, f.category) for f in findings]


def categories(name: str, text: str, path: str = "shop.py") -> list[str]:
    """The categories that a tool finds in one file, each once."""
    return sorted({f.category for f in found(name, text, path)})

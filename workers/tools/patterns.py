"""Our own security patterns, for several languages."""

from collections.abc import Iterator

from common.contracts import Document, Result
from workers.desk import Desk
from workers.tools import python_patterns, source, text_patterns, tool
from workers.tools.findings import Hit, report


@tool("patterns-security", "SQL, markup and commands put together from values; checks left out.")
def run(desk: Desk) -> Result:
    """Find security problems by patterns of several languages."""
    return report(desk, _hits(desk))


def _hits(desk: Desk) -> Iterator[tuple[Document, Hit]]:
    for document in desk.subjects():
        desk.left()
        yield from ((document, hit) for hit in text_patterns.hits(document))
        tree = source.python(document) if document.language == "python" else None
        if tree is not None:
            yield from ((document, hit) for hit in python_patterns.hits(tree))

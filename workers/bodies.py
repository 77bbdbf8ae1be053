"""Bodies that travelled by reference."""

from common.contracts import Assignment, Document, Result, Upstream
from common.store import Store


def fetched(store: Store, assignment: Assignment) -> Assignment:
    """Return the assignment with all bodies that travelled by reference fetched."""
    refs = [d.ref for d in assignment.documents if d.ref]
    refs += [u.ref for u in assignment.upstream if u.ref]
    if not refs:
        return assignment
    texts = store.blobs.get(refs)
    return assignment.model_copy(
        update={
            "documents": tuple(_whole_document(d, texts) for d in assignment.documents),
            "upstream": tuple(_whole_upstream(u, texts) for u in assignment.upstream),
        }
    )


def _whole_document(document: Document, texts: dict[str, str]) -> Document:
    if document.ref is None:
        return document
    return document.model_copy(update={"text": texts[document.ref], "ref": None})


def _whole_upstream(upstream: Upstream, texts: dict[str, str]) -> Upstream:
    if upstream.ref is None:
        return upstream
    result = Result.model_validate_json(texts[upstream.ref])
    return upstream.model_copy(update={"result": result, "ref": None})


def prompts(store: Store, assignment: Assignment) -> tuple[str, str]:
    """Return the team's and the specialist's prompt of an assignment."""
    texts = store.blobs.get(assignment.prompts)
    team, specialist = (texts[ref] for ref in assignment.prompts)
    return team, specialist

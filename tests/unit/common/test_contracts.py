"""Claims that hold for every contract, and the rules that single ones add."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from common.contracts import (
    Budget,
    Conflict,
    Contract,
    Document,
    Exclusion,
    Finding,
    Gap,
    Job,
    Note,
    Outcome,
    Plan,
    Result,
    Slice,
    Span,
    Team,
    Timings,
    Upstream,
    Usage,
    fingerprint,
)
from common.contracts.document import contained
from tests.unit import samples

REF = "sha256:" + "0" * 64
SPAN = Span(start=2, end=3)

ONE_OF_EACH: list[Contract] = [
    samples.assignment(
        documents=[samples.document()],
        slices=[Slice(path="a.py", span=SPAN)],
        upstream=[Upstream(step="zero", specialist="logic", result=Result(text="t"))],
    ),
    Upstream(step="zero", specialist="logic", lost="failed"),
    samples.document(text=None, ref=REF, changed=[SPAN]),
    samples.document(notes=[Note(kind="blame", text="a1b2c3", span=SPAN)], changed=[]),
    Exclusion(path="logo.png", reason="binary"),
    samples.finding(),
    samples.evidence(),
    samples.job(
        documents=[samples.document()],
        excluded=[Exclusion(path="b.bin", reason="binary")],
        idempotency_key="k",
        deadline_seconds=5,
    ),
    samples.outcome(body=Result(findings=(samples.finding(),), evidence=(samples.evidence(),))),
    samples.outcome(body=samples.OUT_OF_SCOPE),
    samples.outcome(body=samples.TRANSIENT, usage=Usage(input_tokens=3, usd=0.25)),
    samples.plan(samples.step(), samples.step("two", "one", inputs=[Slice(path="a.py")])),
    Budget(tokens=0, seconds=0.5),
    samples.report(
        findings=[samples.merged_finding()],
        conflicts=[
            Conflict(
                fingerprint="0123456789abcdef",
                severities=(("logic", "info"), ("security", "critical")),
                settled="critical",
                rule="the most confident report decides",
            )
        ],
        gaps=[Gap(step="one", specialist="logic", kind="lost", reason="r", message="m")],
    ),
    Timings(makespan=1.5, work=3.0, critical_path=1.0, speedup=2.0),
    samples.team("security", "logic"),
    samples.team(plan={"by": "graph", "steps": [{"id": "one", "specialist": "security"}]}),
]
every_contract = pytest.mark.parametrize("value", ONE_OF_EACH, ids=lambda v: type(v).__name__)


@every_contract
def test_every_contract_survives_json(value: Contract) -> None:
    text = value.model_dump_json()

    assert type(value).model_validate_json(text) == value


@every_contract
def test_every_contract_refuses_an_unknown_field(value: Contract) -> None:
    fields = value.model_dump() | {"surprise": 1}

    with pytest.raises(ValidationError) as refused:
        type(value).model_validate(fields)

    assert [(e["type"], e["loc"]) for e in refused.value.errors()] == [
        ("extra_forbidden", ("surprise",))
    ]


@every_contract
def test_every_contract_is_frozen(value: Contract) -> None:
    name = next(iter(type(value).model_fields))

    with pytest.raises(ValidationError, match="frozen"):
        setattr(value, name, getattr(value, name))


@pytest.mark.parametrize(
    "value",
    [v for v in ONE_OF_EACH if "v" in type(v).model_fields],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_refused(value: Contract, version: object) -> None:
    fields = value.model_dump() | {"v": version}

    with pytest.raises(ValidationError) as refused:
        type(value).model_validate(fields)

    assert {e["loc"] for e in refused.value.errors()} == {("v",)}


def test_what_crosses_a_process_boundary_at_its_top_has_a_version() -> None:
    tops = {type(v) for v in ONE_OF_EACH if "v" in type(v).model_fields}

    assert {t.__name__ for t in tops} == {"Assignment", "Job", "Outcome", "Plan", "Report", "Team"}


ESCAPES = [
    "../x",
    "/x",
    "a/../../b",
    "a/..",
    "..",
    "..\\x",
    "a\\b",
    "C:\\x",
    "a\0b",
    "\0",
    "",
    ".",
    "./",
    "//etc/passwd",
]


@pytest.mark.parametrize("path", ESCAPES, ids=repr)
@pytest.mark.parametrize(
    "make",
    [
        lambda path: samples.document(path=path),
        lambda path: samples.finding(path=path),
        lambda path: Slice(path=path),
    ],
    ids=["document", "finding", "slice"],
)
def test_a_path_that_leaves_its_folder_is_refused(make: Any, path: str) -> None:
    with pytest.raises(ValidationError) as refused:
        make(path)

    assert "leaves its folder" in str(refused.value)


@given(st.text(alphabet="ab./\\\0 ", max_size=12))
def test_a_path_is_refused_or_stays_below_any_folder(path: str) -> None:
    from pathlib import Path

    try:
        accepted = contained(path)
    except ValueError:
        return

    below = Path("/folder", accepted).resolve()
    assert below.is_relative_to("/folder")
    assert below != Path("/folder")
    assert contained(accepted) == accepted


def test_the_same_file_spelt_in_two_ways_is_one_path() -> None:
    assert samples.document(path="./a//b.py").path == "a/b.py"


@pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 0), (3, 2), (-1, -1)])
def test_a_span_counts_from_one_and_does_not_end_before_its_start(start: int, end: int) -> None:
    with pytest.raises(ValidationError):
        Span(start=start, end=end)


spans = st.tuples(st.integers(1, 30), st.integers(0, 10)).map(
    lambda pair: Span(start=pair[0], end=pair[0] + pair[1])
)


@given(spans, spans)
def test_spans_overlap_when_they_share_a_line(one: Span, other: Span) -> None:
    lines = set(range(one.start, one.end + 1)) & set(range(other.start, other.end + 1))

    assert one.overlaps(other) is bool(lines)


@pytest.mark.parametrize("bodies", [{"text": None}, {"text": "x", "ref": REF}])
def test_a_document_needs_exactly_one_body(bodies: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"'a\.py' needs either a text or a ref"):
        samples.document(**bodies)


def test_an_empty_text_is_a_body() -> None:
    empty = samples.document(text="", lines=0)

    assert empty.ref is None


@pytest.mark.parametrize("ref", ["sha256:" + "0" * 63, "sha256:" + "G" * 64, "md5:" + "0" * 64])
def test_a_reference_that_is_no_hash_is_refused(ref: str) -> None:
    with pytest.raises(ValidationError):
        samples.document(text=None, ref=ref)


@pytest.mark.parametrize(
    "bodies",
    [
        {},
        {"lost": ""},
        {"result": Result(), "lost": "failed"},
        {"result": Result(), "ref": REF},
        {"ref": REF, "lost": "failed"},
        {"result": Result(), "ref": REF, "lost": "failed"},
    ],
)
def test_an_upstream_needs_exactly_one_body(bodies: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="'zero' needs one of result, ref or lost"):
        Upstream(step="zero", specialist="logic", **bodies)


def test_documents_with_the_same_path_are_refused_and_named() -> None:
    twice = [samples.document("b.py"), samples.document("a.py"), samples.document("./b.py")]

    with pytest.raises(ValidationError, match=r"documents with the same path: b\.py"):
        samples.job(documents=twice)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("team", "Bad Name"),
        ("team", "x" * 64),
        ("team", "sample\n"),
        ("request", "  "),
        ("request", "x" * 20_001),
        ("min_confidence", -1),
        ("min_confidence", 101),
        ("deadline_seconds", 0),
        ("deadline_seconds", -5),
        ("deadline_seconds", 86_401),
        ("deadline_seconds", float("nan")),
        ("deadline_seconds", float("inf")),
        ("idempotency_key", ""),
        ("idempotency_key", "k" * 201),
        ("specialists", ["Not A Name"]),
    ],
)
def test_a_job_out_of_bounds_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        samples.job(**{field: value})

    assert {e["loc"][0] for e in refused.value.errors()} == {field}


@pytest.mark.parametrize(
    ("field", "value"),
    [("min_confidence", 100), ("deadline_seconds", 86_400), ("request", "x" * 20_000)],
)
def test_a_job_at_its_bounds_is_taken(field: str, value: object) -> None:
    assert getattr(samples.job(**{field: value}), field) == value


@pytest.mark.parametrize("attempt", [0, -1])
def test_attempts_are_counted_from_one(attempt: int) -> None:
    with pytest.raises(ValidationError):
        samples.assignment(attempt=attempt)


def test_an_outcome_of_an_unknown_kind_is_refused() -> None:
    fields = samples.outcome().model_dump() | {"body": {"kind": "triumph"}}

    with pytest.raises(ValidationError, match="triumph"):
        Outcome.model_validate(fields)


def test_the_answer_of_an_outcome_is_its_result_or_the_partial_one_of_an_escalation() -> None:
    result = Result(text="half")
    escalated = samples.OUT_OF_SCOPE.model_copy(update={"partial": result})

    assert samples.outcome(body=result).answer == result
    assert samples.outcome(body=escalated).answer == result
    assert samples.outcome(body=samples.OUT_OF_SCOPE).answer is None
    assert samples.outcome(body=samples.FINAL).answer is None


def test_a_team_whose_graph_names_an_unknown_specialist_is_refused() -> None:
    graph = {"by": "graph", "steps": [{"id": "one", "specialist": "secruity"}]}

    with pytest.raises(ValidationError, match="'secruity'; the team has: logic, security"):
        samples.team("security", "logic", plan=graph)


@pytest.mark.parametrize(
    ("backup", "said"),
    [
        ("security", "specialists.security.backups: it names itself"),
        ("lgoic", "no specialist 'lgoic'; known are: logic, security"),
    ],
)
def test_a_backup_is_another_specialist_of_the_team(backup: str, said: str) -> None:
    roster = {"security": samples.specialist(backups=[backup]), "logic": samples.specialist()}

    with pytest.raises(ValidationError, match=said):
        samples.team(specialists=roster)


def test_a_specialists_queue_is_its_own_name_unless_given() -> None:
    heavy = samples.specialist(queue="heavy")
    team = samples.team(specialists={"security": samples.specialist(), "logic": heavy})

    assert (team.queue("security"), team.queue("logic")) == ("security", "heavy")


code = st.text(alphabet="abc=()'", min_size=1, max_size=20)


@given(code, st.sampled_from(["  ", "\t", "\n    ", " \n"]))
def test_a_fingerprint_survives_other_whitespace(snippet: str, space: str) -> None:
    tight = fingerprint("a.py", "sql-injection", f"x = {snippet}")

    assert fingerprint("a.py", "sql-injection", f"{space}x{space}= {snippet}{space}") == tight


def test_a_fingerprint_differs_by_file_kind_and_code() -> None:
    prints = {
        fingerprint("a.py", "sql-injection", "x = 1"),
        fingerprint("b.py", "sql-injection", "x = 1"),
        fingerprint("a.py", "secrets", "x = 1"),
        fingerprint("a.py", "sql-injection", "x = 2"),
    }

    assert len(prints) == 4


names = st.from_regex(r"[a-z][a-z0-9_-]{0,10}", fullmatch=True)
prose = st.text(min_size=1, max_size=30).filter(str.strip)
findings = st.builds(
    Finding,
    path=st.from_regex(r"[a-zé ]{1,8}/[a-z]{1,8}", fullmatch=True),
    span=spans,
    severity=st.sampled_from(["critical", "warning", "info"]),
    message=prose,
    suggestion=st.text(max_size=20),
    confidence=st.integers(0, 100),
    rule=prose,
    category=names,
    specialist=names,
    fingerprint=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
)


@given(st.lists(findings, max_size=3), st.text(max_size=50))
def test_any_result_survives_json(found: list[Finding], text: str) -> None:
    result = samples.outcome(body=Result(findings=tuple(found), text=text))

    assert Outcome.model_validate_json(result.model_dump_json()) == result


@given(st.text(max_size=200), st.none() | st.lists(spans, max_size=3))
def test_any_document_survives_json(text: str, changed: list[Span] | None) -> None:
    document = samples.document(text=text, changed=changed)

    assert Document.model_validate_json(document.model_dump_json()) == document


def test_what_is_left_out_when_dumping_comes_back_as_its_default() -> None:
    for kind in (Job, Plan, Team):
        value = next(v for v in ONE_OF_EACH if isinstance(v, kind))
        slim = {"v": 1} | value.model_dump(mode="json", exclude_defaults=True)

        assert kind.model_validate(slim) == value


def test_a_path_cannot_be_a_document_and_a_folder() -> None:
    documents = (samples.document("a"), samples.document("a/b.py"))

    with pytest.raises(ValidationError, match="a document and a folder: a"):
        Job(team="sample", request="Review it.", documents=documents)

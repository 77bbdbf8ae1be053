"""All processes write to one trace for each job, without telling each other anything."""

import logging
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from common import otlp, telemetry
from common.otlp import Tracer, ids
from tests.unit.samples import FACTS, JOB

TOOL = ("tool", '{"at": 0.9, "tool": "ruff", "seconds": 0.5, "findings": 2}')


@pytest.fixture
def sent() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(sent: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tracer]:
    """A tracer whose spans are kept here instead of being sent."""
    monkeypatch.setattr(otlp, "OTLPSpanExporter", lambda: sent)
    monkeypatch.setattr(otlp, "BatchSpanProcessor", SimpleSpanProcessor)
    made = Tracer("chargehand-tests")
    monkeypatch.setattr(telemetry, "_tracer", made)
    yield made
    made.stop()


def by_name(sent: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in sent.get_finished_spans()}


def test_a_jobs_ids_are_the_same_everywhere_and_of_no_other_job() -> None:
    assert ids(JOB) == ids(JOB)
    assert len({number for n in range(100) for number in ids(f"job{n}")}) == 200


def test_spans_hang_on_the_job_or_on_what_is_open(
    tracer: Tracer, sent: InMemorySpanExporter
) -> None:
    with telemetry.span("plan", JOB), telemetry.span("dispatch", JOB, steps=3):
        pass
    telemetry.job(JOB, 1.0, team="sample", state="done")

    spans, (trace_id, root) = by_name(sent), ids(JOB)
    assert {span.context.trace_id for span in spans.values()} == {trace_id}
    assert spans["job"].context.span_id == root
    assert spans["job"].parent is None
    assert spans["plan"].parent.span_id == root
    assert spans["dispatch"].parent.span_id == spans["plan"].context.span_id
    assert spans["dispatch"].attributes["chargehand.steps"] == 3


def test_a_span_of_another_job_is_not_put_below_the_open_one(
    tracer: Tracer, sent: InMemorySpanExporter
) -> None:
    with telemetry.span("join", JOB), telemetry.span("dispatch", "another01"):
        pass

    spans = by_name(sent)
    assert spans["dispatch"].context.trace_id == ids("another01")[0]
    assert spans["dispatch"].parent.span_id == ids("another01")[1]


def test_tools_are_spans_below_their_step(tracer: Tracer, sent: InMemorySpanExporter) -> None:
    with telemetry.span("work", JOB, step="one"):
        telemetry.tools(JOB, [("other", "{}"), TOOL], seconds=1.0)

    spans = by_name(sent)
    tool, work = spans["tool ruff"], spans["work"]
    assert tool.parent.span_id == work.context.span_id
    assert tool.end_time - tool.start_time == pytest.approx(0.5e9, rel=1e-3)


def test_a_failure_is_told_without_its_text(tracer: Tracer, sent: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError), telemetry.span("plan", JOB):
        raise ValueError("redis://:secret@host")
    with telemetry.span("work", JOB):
        telemetry.failed("failure: timeout")

    spans = by_name(sent)
    assert spans["plan"].status.description == "ValueError"
    assert spans["work"].status.description == "failure: timeout"
    assert "secret" not in "".join(span.to_json() for span in spans.values())


@pytest.mark.parametrize(("share", "spans"), [("1", 2), ("0", 0)])
def test_a_job_is_sampled_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, sent: InMemorySpanExporter, share: str, spans: int
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", share)
    monkeypatch.setattr(otlp, "OTLPSpanExporter", lambda: sent)
    monkeypatch.setattr(otlp, "BatchSpanProcessor", SimpleSpanProcessor)
    tracer = Tracer("chargehand-tests")

    with tracer.span("work", JOB, {}):
        pass
    tracer.job(JOB, 1.0, {})

    assert len(sent.get_finished_spans()) == spans
    tracer.stop()


def test_without_an_endpoint_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", raising=False)

    telemetry.Tracing("chargehand-tests").start(FACTS)

    assert telemetry._tracer is None
    with telemetry.span("plan", JOB):
        telemetry.tell(a=1)
    telemetry.job(JOB, 0.0)


def test_without_the_libraries_the_work_goes_on_untraced(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "common.otlp")
    monkeypatch.delattr("common.otlp")

    with caplog.at_level(logging.ERROR):
        telemetry.Tracing("chargehand-tests").start(FACTS)

    assert telemetry._tracer is None
    assert "opentelemetry is not installed" in caplog.text

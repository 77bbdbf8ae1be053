"""The instruments behind `common.metrics`: the one module that imports prometheus_client."""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from common.metrics import Gauge, Sample

MOST = 500
"""How many sets of labels a metric has at the most; whatever comes after them is one more."""
OTHER = "other"
WAITS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600)
STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
JOBS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)

Instrument = TypeVar("Instrument", Counter, Histogram)


class Labelled(Generic[Instrument]):
    """An instrument for each set of labels, up to a bound."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument: Instrument = instrument
        self._known: dict[tuple[str, ...], Instrument] = {}

    def of(self, *labels: str) -> Instrument:
        """Return the instrument of these labels."""
        found = self._known.get(labels)
        if found is None:
            if len(self._known) >= MOST:
                labels = (OTHER,) * len(labels)
            found = self._known[labels] = self._instrument.labels(*labels)
        return found


class Meters:
    """All that one process counts."""

    def __init__(self) -> None:
        # The time at which a counter was made doubles the series, and nobody asks for it.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # as the library has it
        self.registry = registry = CollectorRegistry()
        for standard in (ProcessCollector, PlatformCollector, GCCollector):
            standard(registry=registry)
        who = ("team", "specialist")
        self.steps = Labelled(
            Counter(
                "chargehand_steps_total",
                "Attempts at steps whose outcome was stored.",
                (*who, "engine", "outcome"),
                registry=registry,
            )
        )
        self.tokens = Labelled(
            Counter(
                "chargehand_tokens_total",
                "Tokens that models read (input) and wrote (output).",
                (*who, "direction"),
                registry=registry,
            )
        )
        self.cache_reads = Labelled(
            Counter(
                "chargehand_cache_read_tokens_total",
                "Tokens that models found in their cache.",
                who,
                registry=registry,
            )
        )
        self.cost = Labelled(
            Counter("chargehand_cost_usd_total", "Dollars spent on models.", who, registry=registry)
        )
        self.jobs = Labelled(
            Counter(
                "chargehand_jobs_total",
                "Jobs that ended: done, partial, cancelled or failed.",
                ("team", "state"),
                registry=registry,
            )
        )
        self.acts = Labelled(
            Counter(
                "chargehand_reconciler_acts_total",
                "What the reconciler had to do because nothing else did it.",
                ("act",),
                registry=registry,
            )
        )
        self.refused = Counter(
            "chargehand_refused_messages_total",
            "Messages that were refused and kept for inspection.",
            registry=registry,
        )
        self.waits = Labelled(
            Histogram(
                "chargehand_queue_wait_seconds",
                "Seconds from a step's dispatch to its claim.",
                ("queue",),
                buckets=WAITS,
                registry=registry,
            )
        )
        self.step_seconds = Labelled(
            Histogram(
                "chargehand_step_seconds",
                "Seconds that an attempt at a step took.",
                ("specialist",),
                buckets=STEPS,
                registry=registry,
            )
        )
        self.job_seconds = Labelled(
            Histogram(
                "chargehand_job_seconds",
                "Seconds from a job's submission to its end.",
                ("team",),
                buckets=JOBS,
                registry=registry,
            )
        )

    def read_when_asked(
        self, gauges: Iterable[Gauge], read: Callable[[], Iterable[Sample]]
    ) -> None:
        """Have these gauges read anew for each answer."""
        self.registry.register(_Read(tuple(gauges), read))

    def page(self, accept: str) -> tuple[bytes, str]:
        """Return all numbers as text, and the type of that text."""
        encode, kind = choose_encoder(accept)
        return encode(self.registry), kind


class _Read(Collector):
    def __init__(self, gauges: tuple[Gauge, ...], read: Callable[[], Iterable[Sample]]) -> None:
        self._gauges = gauges
        self._read = read

    def describe(self) -> Iterator[Metric]:
        """Name the gauges without reading them, as is done when they are registered."""
        yield from self._families().values()

    def collect(self) -> Iterator[Metric]:
        families, labels = self._families(), {g.name: g.labels for g in self._gauges}
        for one in self._read():
            values = [one.labels[name] for name in labels[one.name]]
            families[one.name].add_metric(values, one.value)
        yield from (family for family in families.values() if family.samples)

    def _families(self) -> dict[str, GaugeMetricFamily]:
        return {g.name: GaugeMetricFamily(g.name, g.help, labels=g.labels) for g in self._gauges}

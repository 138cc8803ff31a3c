"""Metrics for Prometheus: requests, runs, items, tokens, cost and the queue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from burnish.app.run_tally import RunTally
from burnish.domain import OptimizationStatus

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The numbers of one server process."""

    def __init__(self, tally: RunTally) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "burnish_requests",
            "HTTP requests by route and status.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "burnish_request_seconds",
            "How long requests took; event streams last as long as they are watched.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._optimizations = self._gauge("burnish_optimizations", "By status.", ["status"])
        self._active = self._gauge("burnish_runs_active", "Runs of this process.")
        self._queue = self._gauge("burnish_run_queue_depth", "Runs that nobody works on.")
        self._image_runs = self._gauge("burnish_image_runs_active", "Image runs of this process.")
        self._watchers = self._gauge("burnish_event_streams", "Clients that watch events.")
        self._registry.register(_TallyCollector(tally))

    def note_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request. Routes are templates, so that ids do not make a series each."""
        known = method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") else "OTHER"
        self._requests.labels(known, route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def expose(
        self,
        *,
        statuses: Mapping[OptimizationStatus, int],
        active: int,
        queue: int,
        image_runs: int,
        watchers: int,
    ) -> bytes:
        """Everything in Prometheus' text format."""
        for status in OptimizationStatus:
            self._optimizations.labels(status.value).set(statuses.get(status, 0))
        self._active.set(active)
        self._queue.set(queue)
        self._image_runs.set(image_runs)
        self._watchers.set(watchers)
        return generate_latest(self._registry)

    def _gauge(self, name: str, words: str, labels: Iterable[str] = ()) -> Gauge:
        return Gauge(name, words, tuple(labels), registry=self._registry)


class _TallyCollector(Collector):
    """Reads the tally when somebody looks."""

    def __init__(self, tally: RunTally) -> None:
        self._tally = tally

    def collect(self) -> Iterable[Metric]:
        """Counters since the process began."""
        totals = self._tally.totals()
        yield CounterMetricFamily("burnish_items", "Item runs.", value=totals.items)
        yield CounterMetricFamily("burnish_item_errors", "Failed item runs.", value=totals.errors)
        calls = CounterMetricFamily("burnish_calls", "Model calls.", labels=["purpose"])
        tokens = CounterMetricFamily("burnish_tokens", "Tokens.", labels=["purpose", "direction"])
        cost = CounterMetricFamily("burnish_cost_usd", "US dollars.", labels=["purpose"])
        cached = CounterMetricFamily(
            "burnish_cached_tokens", "Input tokens that the provider had.", labels=["purpose"]
        )
        share = GaugeMetricFamily(
            "burnish_cached_share", "Of all input tokens, the cached ones.", labels=["purpose"]
        )
        for purpose, usage in totals.by_purpose.items():
            calls.add_metric([purpose], usage.calls)
            tokens.add_metric([purpose, "input"], usage.input_tokens)
            tokens.add_metric([purpose, "output"], usage.output_tokens)
            cached.add_metric([purpose], usage.cached_tokens)
            if usage.cached_share is not None:
                share.add_metric([purpose], usage.cached_share)
            if usage.cost_usd is not None:  # What nobody knows is no sample, and not 0.
                cost.add_metric([purpose], usage.cost_usd)
        yield from (calls, tokens, cached, share, cost)

"""The call graph of services with rates, errors and latencies, computed from spans.

A call is a span whose parent belongs to another service. The requests of a service are its spans without a parent or
with a parent in another service. A span whose parent is missing is not a call, because the caller is unknown, but it is
a request of its service.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from simcloud.telemetry.traces.view import TraceView

K = TypeVar("K")


class Figures(NamedTuple):
    """Rates, errors and latencies of requests. The quantiles are exact."""

    calls: int
    errors: int
    p50_s: float
    p95_s: float
    p99_s: float

    @property
    def error_share(self) -> float:
        """Which part failed, from 0 to 1."""
        return self.errors / self.calls


class Edge(NamedTuple):
    """The calls from one service to another, as recorded by the callee."""

    parent: str
    child: str
    figures: Figures

    @property
    def calls(self) -> int:
        """How many calls there were."""
        return self.figures.calls


class Health(NamedTuple):
    """The figures of a service's requests."""

    service: str
    figures: Figures


class _Tally:
    """Counters of requests."""

    __slots__ = ("durations_us", "errors")

    def __init__(self) -> None:
        self.durations_us: list[int] = []
        self.errors = 0

    def count(self, duration_us: int, failed: bool) -> None:
        self.durations_us.append(duration_us)
        self.errors += failed

    def figures(self) -> Figures:
        ordered = sorted(self.durations_us)
        count = len(ordered)
        p50_s, p95_s, p99_s = (ordered[-(-count * share // 100) - 1] / 1e6 for share in (50, 95, 99))
        return Figures(count, self.errors, p50_s, p95_s, p99_s)


class ServiceMap(NamedTuple):
    """Calls between services, and the figures of each service; both sorted by name."""

    edges: list[Edge]
    services: list[Health]


def service_map(view: TraceView, start_us: int, end_us: int) -> ServiceMap:
    """Compute the call graph of the traces with a span that starts between ``start_us`` and ``end_us``."""
    store = view.store
    calls: dict[tuple[str, str], _Tally] = {}
    requests: dict[str, _Tally] = {}
    for rows in view.rows_by_trace(start_us, end_us):
        indexes = [row - store.first_row for row in rows]
        # Last first, because the first counts where two spans have the same id.
        services = {store.span_ids[index]: store.shapes[index].group.service for index in indexes}
        services.pop(0, None)  # the id that means "no parent"
        for index in indexes:
            shape = store.shapes[index]
            service = shape.group.service
            parent = services.get(store.parent_ids[index])
            if parent == service:
                continue
            duration_us = store.durations_us[index]
            _tally(requests, service).count(duration_us, shape.unserved)
            if parent is not None:
                _tally(calls, (parent, service)).count(duration_us, shape.unserved)
    return ServiceMap(
        [Edge(parent, child, calls[parent, child].figures()) for parent, child in sorted(calls)],
        [Health(service, requests[service].figures()) for service in sorted(requests)],
    )


def dependencies(view: TraceView, start_us: int, end_us: int) -> list[Edge]:
    """Return the calls between services in those traces."""
    return service_map(view, start_us, end_us).edges


def service_health(view: TraceView, start_us: int, end_us: int) -> list[Health]:
    """Compute the figures of each service's requests in those traces."""
    return service_map(view, start_us, end_us).services


def _tally(tallies: dict[K, _Tally], key: K) -> _Tally:
    tally = tallies.get(key)
    if tally is None:
        tally = tallies[key] = _Tally()
    return tally

"""The metrics of servers and clients: requests, errors by code, durations, requests in flight.

Handles are created once per method and then only incremented, so that counting is cheap.
"""

from __future__ import annotations

from simcloud.machine import Counter, Labels
from simcloud.machine.process import Context


class MethodMeasures:
    """The counters of one method, on one side of the call."""

    __slots__ = ("_ctx", "_errors", "_labels", "_prefix", "latency", "requests")

    def __init__(self, ctx: Context, prefix: str, labels: Labels) -> None:
        self._ctx = ctx
        self._prefix = prefix
        self._labels = labels
        self._errors: dict[str, Counter] = {}
        self.requests = ctx.metrics.counter(f"{prefix}_requests_total", labels)
        self.latency = ctx.metrics.histogram(f"{prefix}_duration_seconds", labels)

    def record_success(self, duration_s: float) -> None:
        """Record a request that succeeded."""
        self.requests.value += 1.0
        self.latency.observe(duration_s)

    def record_failure(self, duration_s: float, code: str) -> None:
        """Record a request that failed with an error code."""
        self.record_success(duration_s)
        counter = self._errors.get(code)
        if counter is None:
            labels = tuple(sorted((*self._labels, ("code", code))))
            counter = self._ctx.metrics.counter(f"{self._prefix}_errors_total", labels)
            self._errors[code] = counter
        counter.value += 1.0


class Measures:
    """The counters of one server or one client, by method. ``prefix`` is ``grpc_server``, ``http_client``, …"""

    def __init__(self, ctx: Context, prefix: str, service: str, peer: str = "") -> None:
        self._ctx = ctx
        self._prefix = prefix
        labels = [("service", service)]
        if peer:
            labels.append(("peer", peer))
        self._labels: Labels = tuple(sorted(labels))
        self._methods: dict[str, MethodMeasures] = {}
        self.in_flight = ctx.metrics.gauge(f"{prefix}_in_flight", self._labels)

    def of(self, method: str) -> MethodMeasures:
        """Return the counters of a method; callers keep them."""
        found = self._methods.get(method)
        if found is None:
            labels = tuple(sorted((*self._labels, ("method", method))))
            found = self._methods[method] = MethodMeasures(self._ctx, self._prefix, labels)
        return found

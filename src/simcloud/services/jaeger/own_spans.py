"""Spans of Jaeger itself: all-in-one 1.57 traces the requests to its query API, and exports them to its own collector.

They are kept apart from those of applications, so nobody finds them who does not ask this Jaeger.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from simcloud.machine import Span
from simcloud.machine.network import HttpRequest
from simcloud.machine.process import Context
from simcloud.services.jaeger.collector import KEPT_SPANS, Collector
from simcloud.telemetry.traces import JaegerApi, Retention, TraceStore

SERVICE: Final = "jaeger-all-in-one"
EXPORT_S: Final = 5.0
"""Time between two exports of OpenTelemetry's batch processor."""

ROUTES: Final = (
    (re.compile(r"/api/traces/[^/]+"), "/api/traces/{traceID}"),
    (re.compile(r"/api/services/[^/]+/operations"), "/api/services/{service}/operations"),
    (
        re.compile(
            r"/api/(traces|services|operations|dependencies|metrics/(latencies|calls|errors|minstep))"
        ),
        "",
    ),
)
"""The paths that are traced and the name of each operation; it is the path itself if empty."""

LIBRARY: Final = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"


class OwnSpans:
    """Spans that wait for the next export; ``deliver`` makes those of the last ones known to the API and the collector."""

    def __init__(self, ctx: Context, collector: Collector, api: JaegerApi) -> None:
        self._ctx = ctx
        self._collector = collector
        self._api = api
        self._began = ctx.kernel.now
        self._waiting: deque[Span] = deque()
        self._store: TraceStore | None = None

    def note(self, request: HttpRequest, path: str, began: float, status: int, size_bytes: int) -> None:
        """Trace a request that has been answered, unless no route is for it."""
        route = next((name or path for pattern, name in ROUTES if pattern.fullmatch(path)), "")
        if not route:
            return
        ctx = self._ctx
        host, _, port = (request.header("Host") or "").partition(":")
        tags = [
            ("otel.library.name", LIBRARY), ("otel.library.version", "0.51.0"), ("http.method", request.method),
            ("http.scheme", "http"), ("net.host.name", host), *([("net.host.port", port)] if port else []),
            ("user_agent.original", request.header("User-Agent") or ""), ("net.protocol.version", "1.1"),
            ("http.route", route), ("http.wrote_bytes", str(size_bytes)), ("http.status_code", str(status)),
            ("span.kind", "server"), ("internal.span.format", "otlp"),
        ]  # fmt: skip
        process = (
            ("host.name", ctx.container.hostname), ("os.type", "linux"), ("telemetry.sdk.language", "go"),
            ("telemetry.sdk.name", "opentelemetry"), ("telemetry.sdk.version", "1.26.0"),
        )  # fmt: skip
        bits = ctx.random("own spans").getrandbits
        lasted_s = ctx.kernel.now - began
        self._waiting.append(
            Span(bits(63), bits(63), 0, SERVICE, route, began, lasted_s, None, tuple(tags), process)
        )

    def deliver(self) -> None:
        """Store the spans that have been exported by now."""
        now = self._ctx.kernel.now
        exported_at = now - (now - self._began) % EXPORT_S
        while self._waiting and self._waiting[0].start + self._waiting[0].duration_s <= exported_at:
            if self._store is None:
                self._store = TraceStore(Retention(KEPT_SPANS), epoch_s=self._ctx.now - now)
                self._ctx.kernel.on_skip(self._store.shift_epoch)
                self._api.show_own(SERVICE, self._store)
            self._store.add(self._waiting.popleft())
            received = self._collector.received
            received[SERVICE] = received.get(SERVICE, 0) + 1

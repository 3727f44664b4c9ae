"""Jaeger's HTTP handlers: the query API and web page, the admin port, the sampling strategies."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import product
from typing import Any, Final

import msgspec

from simcloud.golang import float_text
from simcloud.machine.network import HttpRequest, HttpResponse, respond
from simcloud.machine.process import Context
from simcloud.services.jaeger.collector import Collector
from simcloud.services.jaeger.own_spans import SERVICE, OwnSpans
from simcloud.services.rpc.http.requests import http_error, target_of
from simcloud.telemetry.traces import JaegerApi, Name

REQUEST_CPU_S: Final = 0.000_5
BUCKET_SIZE: Final = 8
SAMPLING_RATE: Final = 0.001
PAGE: Final = (
    '<!doctype html>\n<html lang="en">\n<head><meta charset="UTF-8"><title>Jaeger UI</title></head>\n'
    '<body><div id="jaeger-ui-root"></div></body>\n</html>\n'
)
FORMATS: Final = ("jaeger", "proto", "unknown", "zipkin")
TRANSPORTS: Final = ("grpc", "http", "unknown")
OTHERS: Final = "other-services"
"""The name under which spans of too many services would be counted."""
UDP_SERVER: Final = "jaeger_agent_thrift_udp_server"
NO_SERVICE: Final = "'service' parameter must be provided once\n"


class PodApi(JaegerApi):
    """The query API whose lists are in an order in which Go ranges over maps, another one for each request."""

    def __init__(self, ctx: Context, collector: Collector) -> None:
        super().__init__(collector.store, lambda: int(ctx.now * 1e6), collector.rows)
        self._ctx = ctx

    def arrange_names(self, found: list[Name]) -> list[Name]:
        """Rotate what one bucket of a map holds; shuffle what needs more of them."""
        random = self._ctx.random("map order")
        if len(found) > BUCKET_SIZE:
            return random.sample(found, len(found))
        first = random.randrange(BUCKET_SIZE)
        return found[first:] + found[:first]

    def arrange_links(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Shuffle dependencies: they are counted in the order of a map of traces."""
        return self._ctx.random("map order").sample(found, len(found))


class Pages:
    """The handlers of a Jaeger's ports."""

    def __init__(self, ctx: Context, collector: Collector) -> None:
        self._ctx = ctx
        self._collector = collector
        self._started = ctx.now
        self._api = PodApi(ctx, collector)
        self._own = OwnSpans(ctx, collector, self._api)

    async def query(self, request: HttpRequest) -> HttpResponse:
        """Port 16686: the API under /api, and the web page at any other path."""
        began = self._ctx.kernel.now
        await self._ctx.cpu(REQUEST_CPU_S)
        path, parameters = target_of(request)
        if not path.startswith("/api/"):
            return respond(200, PAGE, Content_Type="text/html; charset=utf-8")
        if request.method not in ("GET", "HEAD"):
            return respond(405)
        self._own.deliver()
        status, document = self._api.answer(path, parameters)
        body = msgspec.json.encode(document)
        self._own.note(request, path, began, status, len(body))
        if status != 200:
            return http_error(status, body.decode())
        return respond(200, body, Content_Type="application/json")

    async def admin(self, request: HttpRequest) -> HttpResponse:
        """Port 14269: is it well, and its own metrics."""
        path, _ = target_of(request)
        if path == "/metrics":
            return respond(200, self._metrics(), Content_Type="text/plain; version=0.0.4; charset=utf-8")
        if path != "/":
            return respond(404, "404 page not found\n", Content_Type="text/plain; charset=utf-8")
        since = datetime.fromtimestamp(int(self._started), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        uptime_s = self._ctx.now - self._started
        minutes, seconds = divmod(uptime_s, 60)
        uptime = f"{int(minutes)}m{seconds:.6f}s" if minutes else f"{seconds:.6f}s"
        health = {"status": "Server available", "upSince": since, "uptime": uptime}
        return respond(200, msgspec.json.encode(health), Content_Type="application/json")

    async def sampling(self, request: HttpRequest) -> HttpResponse:
        """Port 5778: how much of its requests a service should trace."""
        path, parameters = target_of(request)
        if path not in ("/", "/sampling"):
            return respond(404, "404 page not found\n", Content_Type="text/plain; charset=utf-8")
        if len(parameters.get("service", [])) != 1:
            return respond(400, NO_SERVICE, Content_Type="text/plain; charset=utf-8")
        strategy = {"strategyType": "PROBABILISTIC", "probabilisticSampling": {"samplingRate": SAMPLING_RATE}}
        return respond(200, msgspec.json.encode(strategy), Content_Type="application/json")

    async def spans(self, request: HttpRequest) -> HttpResponse:
        """Port 14268: spans as Thrift over HTTP, which no program here writes."""
        if request.method != "POST" or target_of(request)[0] != "/api/traces":
            return respond(404, "404 page not found\n", Content_Type="text/plain; charset=utf-8")
        content = request.header("Content-Type") or ""
        words = "Cannot parse content type: mime: no media type\n" if not content else f"Unsupported content type: {content}\n"  # fmt: skip
        return respond(400, words, Content_Type="text/plain; charset=utf-8")

    def _metrics(self) -> str:
        self._own.deliver()
        spans, packets = self._collector.received, self._collector.packets
        received: dict[tuple[str, ...], int] = dict.fromkeys(
            product(("false", "true"), FORMATS, (OTHERS,), TRANSPORTS), 0
        )
        saved: dict[tuple[str, ...], int] = dict.fromkeys(
            product(("false", "true"), ("err", "ok"), (OTHERS,)), 0
        )
        for name, count in spans.items():
            way = ("unknown", name, "unknown") if name == SERVICE else ("proto", name, "grpc")
            received["false", *way] = saved["false", "ok", name] = count
        processed = {f'{{model="jaeger",protocol="{name}"}}': packets[name] for name in sorted(packets)}
        resident = {"": self._ctx.memory.resident_bytes}
        families: tuple[tuple[str, str, str, dict[str, int]], ...] = (
            (
                f"{UDP_SERVER}_packets_processed_total",
                "counter",
                "Number of packets processed by server",
                processed,
            ),
            (
                "jaeger_collector_spans_received_total",
                "counter",
                "received",
                _label(("debug", "format", "svc", "transport"), received),
            ),
            (
                "jaeger_collector_spans_saved_by_svc_total",
                "counter",
                "saved-by-svc",
                _label(("debug", "result", "svc"), saved),
            ),
            ("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", resident),
        )
        lines = []
        for name, kind, meaning, samples in families:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
            lines += [f"{name}{labels} {float_text(value)}" for labels, value in samples.items()]
        return "\n".join([*lines, ""])


def _label(names: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> dict[str, int]:
    """Return counts by labels in the form and the order of Prometheus."""
    return {
        "{" + ",".join(f'{name}="{value}"' for name, value in zip(names, values, strict=True)) + "}": count
        for values, count in sorted(counts.items())
    }

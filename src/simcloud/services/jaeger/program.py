"""``jaeger-all-in-one`` 1.57: agent, collector, storage in memory and query service in one process."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from simcloud.machine.network import DatagramSocket, NetworkError, serve_http
from simcloud.machine.process import Context, Signal
from simcloud.services.jaeger.collector import Collector
from simcloud.services.jaeger.pages import Pages
from simcloud.services.languages.golang import listen_error, plain_log
from simcloud.services.languages.output import print_line
from simcloud.services.tracing import JAEGER
from simcloud.sim import Event

AGENT_PORTS: Final = {5775: "compact", 6831: "compact", 6832: "binary"}
QUERY_PORT: Final = 16686
ADMIN_PORT: Final = 14269
COLLECTOR_PORT: Final = 14268
SAMPLING_PORT: Final = 5778
START_S: Final = 0.05


async def jaeger(ctx: Context) -> int:
    """Run until stopped; received spans are lost then."""
    stop: Event[None] = Event(ctx.kernel)
    for signal in (Signal.TERM, Signal.INT):
        ctx.signals.on(signal, lambda _signal: stop.set())
    max_traces = ctx.env.get("MEMORY_MAX_TRACES", "0")
    kept_traces = int(max_traces[:9]) if max_traces.isascii() and max_traces.isdigit() else 0
    collector = Collector(ctx, kept_traces)
    pages = Pages(ctx, collector)
    plain_log(ctx, "maxprocs: Leaving GOMAXPROCS=8: CPU quota undefined")
    await ctx.cpu(START_S)
    try:
        _listen(ctx, pages, collector, kept_traces)
    except NetworkError as error:
        failure = listen_error(error, QUERY_PORT)
        _line(ctx, "all-in-one/main.go:135", "Failed to start", level="fatal", error=failure)
        return 1
    await stop.wait()
    _line(ctx, "flags/service.go:157", "Shutting down")
    _line(ctx, "healthcheck/handler.go:129", "Health Check state change", status="unavailable")
    _line(ctx, "flags/service.go:163", "Shutdown complete")
    return 0


def _listen(ctx: Context, pages: Pages, collector: Collector, kept_traces: int) -> None:
    _line(ctx, "flags/service.go:119", "Mounting metrics handler on admin server", route="/metrics")
    _line(ctx, "flags/service.go:125", "Mounting expvar handler on admin server", route="/debug/vars")
    _line(ctx, "flags/admin.go:130", "Mounting health check on admin server", route="/")
    serve_http(ctx, ADMIN_PORT, pages.admin)
    _line(ctx, "flags/admin.go:144", "Starting admin HTTP server", **{"http-addr": f":{ADMIN_PORT}"})
    _line(ctx, "memory/factory.go:85", "Memory storage initialized", configuration={"MaxTraces": kept_traces})
    serve_http(ctx, COLLECTOR_PORT, pages.spans)
    address = {"http host-port": f":{COLLECTOR_PORT}"}
    _line(ctx, "server/http.go:56", "Starting jaeger-collector HTTP server", **address)
    for port, protocol in AGENT_PORTS.items():
        _serve_packets(ctx.container.namespace.bind(port, JAEGER, owner=ctx.process), collector, protocol)
    serve_http(ctx, SAMPLING_PORT, pages.sampling)
    port_field: dict[str, Any] = {"http-port": SAMPLING_PORT}
    _line(ctx, "app/agent.go:69", "Starting jaeger-agent HTTP server", **port_field)
    serve_http(ctx, QUERY_PORT, pages.query)
    addresses = {"http_addr": f"[::]:{QUERY_PORT}", "grpc_addr": "[::]:16685"}
    _line(ctx, "app/server.go:226", "Query server started", **addresses)
    _line(ctx, "healthcheck/handler.go:129", "Health Check state change", status="ready")
    _line(ctx, "app/server.go:301", "Starting HTTP server", port=QUERY_PORT, addr=f":{QUERY_PORT}")


def _serve_packets(socket: DatagramSocket, collector: Collector, protocol: str) -> None:
    socket.on_datagram = lambda datagram: collector.take(protocol, datagram)


def _line(ctx: Context, caller: str, text: str, *, level: str = "info", **fields: Any) -> None:
    """A line of zap's JSON, on stderr."""
    line = {"level": level, "ts": round(ctx.now, 7), "caller": caller, "msg": text, **fields}
    print_line(ctx, msgspec.json.encode(line).decode(), 2)

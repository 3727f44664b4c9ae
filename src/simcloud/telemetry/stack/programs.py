"""What the programs of the monitoring stack have in common: log lines, their own metrics, the text of ``/metrics``, and waiting."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs

from simcloud.golang import quote
from simcloud.kubernetes.api import times
from simcloud.machine import Labels, format_samples
from simcloud.machine.network import (
    ConnectTimedOut,
    HttpHandler,
    HttpRequest,
    HttpResponse,
    Namespace,
    NetworkError,
    find_listener,
    respond,
    serve_http,
)
from simcloud.machine.process import Context, Process, Signal
from simcloud.sim import Event
from simcloud.telemetry.prometheus_paths import NOT_FOUND
from simcloud.telemetry.scrape import Reading, Readings, Reported

TEXT: Final = "text/plain; charset=utf-8"
EXPOSITION: Final = "text/plain; version=0.0.4; charset=utf-8; escaping=values"


def write_log(ctx: Context, caller: str, level: str = "info", **fields: str) -> None:
    """Write a line in the format of Go kit's logfmt."""
    ctx.log(format_log(ctx.now, caller, level, **fields))


def format_log(time_s: float, caller: str, level: str, **fields: str) -> str:
    """Return a line in that format."""
    moment = times.rfc3339(int(time_s)).removesuffix("Z")
    words = " ".join(f"{name}={_quote(value)}" for name, value in fields.items())
    return f"ts={moment}.{int(time_s * 1000) % 1000:03d}Z caller={caller} level={level} {words}"


def _quote(value: str) -> str:
    return quote(value) if any(letter in value for letter in ' ="') or not value else value


async def serve_until_end(
    ctx: Context, port: int, answer: HttpHandler, report: Callable[[], Any], memory_mib: int
) -> int:
    """Serve HTTP on a port until SIGTERM or SIGINT; return the exit code. ``report`` becomes the process's report."""
    ctx.memory.use(memory_mib << 20)
    ctx.process.start_runtime()
    try:
        serve_http(ctx, port, answer)
    except NetworkError as error:
        write_log(ctx, "main.go:160", "error", err=f"listen tcp :{port}: bind: {str(error).lower()}")
        return 1
    ctx.process.report = report
    write_log(ctx, "tls_config.go:232", msg="Listening on", address=f"[::]:{port}")
    ended: Event[None] = Event(ctx.kernel)
    for signal in (Signal.TERM, Signal.INT):
        ctx.signals.on(signal, lambda _signal: ended.set(None))
    await ended.wait()
    write_log(ctx, "main.go:573", msg="Received SIGTERM, exiting gracefully...")
    return 0


def ask_process(source: Namespace, address: str, port: int) -> Any:
    """Return what the process that listens there reports; raise the ``NetworkError`` of a client that asks in vain."""
    process = find_listener(source, address, port).owner
    if not isinstance(process, Process) or process.stopped:
        raise ConnectTimedOut
    return process.report() if process.report is not None else []


class OwnMetrics:
    """The metrics of a Go program about itself."""

    def __init__(self, ctx: Context, build: str, version: str) -> None:
        self._ctx = ctx
        labels: Labels = (("branch", "HEAD"), ("goversion", "go1.19.5"), ("version", version))
        constants = {"go_goroutines": 9.0, "go_threads": 8.0, "process_start_time_seconds": ctx.now}
        self._constant = [Reading(f"{build}_build_info", labels, 1.0)]
        self._constant += [Reading(name, (), value) for name, value in constants.items()]
        self._cpu = Reading("process_cpu_seconds_total", ())
        self._memory = Reading("process_resident_memory_bytes", ())

    def read(self) -> Readings:
        """Return the present values."""
        self._cpu.value = self._ctx.process.cpu_s
        self._memory.value = float(self._ctx.memory.resident_bytes)
        return [*self._constant, self._cpu, self._memory]


def parse_target(request: HttpRequest) -> tuple[str, dict[str, list[str]]]:
    """Return the path of a request, and its parameters: those of a form come first."""
    path, _, query = request.path.partition("?")
    parameters = parse_qs(query, keep_blank_values=True)
    if request.method == "POST":
        form = parse_qs(request.body.decode("utf-8", "replace"), keep_blank_values=True)
        parameters = {name: form.get(name, []) + parameters.get(name, []) for name in {**form, **parameters}}
    return path, parameters


def respond_with(status: int, content: Any) -> HttpResponse:
    """Return a document as JSON, or a text."""
    if isinstance(content, str):
        return respond(status, content, Content_Type=TEXT)
    body = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return respond(status, body.encode("utf-8", "replace"), Content_Type="application/json")


def respond_with_metrics(read: Callable[[], Reported]) -> HttpResponse:
    """Return the present readings as the text of ``/metrics``."""
    samples = ((reading.name, reading.labels, reading.value) for reading in read())
    return respond(200, format_samples(samples), Content_Type=EXPOSITION)


def make_answer(read: Callable[[], Reported]) -> HttpHandler:
    """Return the HTTP handler of a program that serves ``/metrics``, and tells its health."""

    async def answer(request: HttpRequest) -> HttpResponse:
        path, _ = parse_target(request)
        if path == "/metrics":
            return respond_with_metrics(read)
        return respond_with(200, "OK") if path in ("/healthz", "/livez", "/readyz") else refuse_path()

    return answer


def refuse_path() -> HttpResponse:
    """Answer to an unknown path."""
    return respond_with(404, NOT_FOUND)

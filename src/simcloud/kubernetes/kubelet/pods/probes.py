"""A single probe: a command, an HTTP request, a connection or a gRPC health check.

``look`` returns the result and the text for an event. The kubelet connects from its node's own network.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from simcloud.golang import format_duration
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.kubelet.pods.hooks import port_number, run_command
from simcloud.kubernetes.kubelet.records import ContainerRecord
from simcloud.kubernetes.network.http_client import exchange, go_words
from simcloud.machine.network import (
    HealthCheckRequest,
    HealthCheckResponse,
    HttpRequest,
    HttpResponse,
    Namespace,
    NetworkError,
)
from simcloud.sim import TimedOut

GRPC: Final = "grpc"
SHOWN_BYTES: Final = 10 * 1024
AGENT: Final = "kube-probe/1.36"


class Result(Enum):
    """What a look found."""

    SUCCESS = "success"
    FAILURE = "failure"
    UNKNOWN = "unknown"


async def look(
    probe: Object, spec: Object, record: ContainerRecord, address: str, host: Namespace
) -> tuple[Result, str]:
    """Look once, for at most the probe's time-out."""
    limit_s = float(probe.get("timeoutSeconds") or 1)
    if "exec" in probe:
        return await _exec(list(probe["exec"].get("command") or ()), record, host, limit_s)
    if "httpGet" in probe:
        return await _http(probe["httpGet"], spec, address, host, limit_s)
    if "tcpSocket" in probe:
        action = probe["tcpSocket"]
        target = action.get("host") or address
        return await _tcp(target, port_number(action.get("port"), spec), host, limit_s)
    return await _grpc(probe["grpc"], address, host, limit_s)


async def _exec(
    command: list[str], record: ContainerRecord, host: Namespace, limit_s: float
) -> tuple[Result, str]:
    try:
        with host.kernel.timeout(limit_s):
            status, output = await run_command(record, command)
    except TimedOut:
        said = " ".join(command)
        return Result.FAILURE, f'command timed out: "{said}" timed out after {format_duration(limit_s)}'
    text = output[:SHOWN_BYTES].decode("utf-8", "replace")
    return (Result.SUCCESS if status == 0 else Result.FAILURE), text


async def _http(
    action: Object, spec: Object, address: str, host: Namespace, limit_s: float
) -> tuple[Result, str]:
    target = action.get("host") or address
    port = port_number(action.get("port"), spec)
    if not port:
        return Result.UNKNOWN, f'couldn\'t find port: "{action.get("port")}"'
    scheme = (action.get("scheme") or "HTTP").lower()
    path = "/" + (action.get("path") or "/").lstrip("/")
    url = f"{scheme}://{target}:{port}{path}"
    headers = {"Host": f"{target}:{port}", "User-Agent": AGENT, "Accept": "*/*", "Connection": "close"}
    headers |= {each["name"]: each.get("value") or "" for each in action.get("httpHeaders") or ()}
    try:
        with host.kernel.timeout(limit_s):
            response = await exchange(host, target, port, scheme, HttpRequest("GET", path, headers))
    except TimedOut:
        awaited = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return Result.FAILURE, f'Get "{url}": {awaited}'
    except NetworkError as error:
        return Result.FAILURE, f'Get "{url}": {go_words(error, f"{target}:{port}")}'
    if not isinstance(response, HttpResponse):
        return (
            Result.FAILURE,
            f'Get "{url}": net/http: HTTP/1.x transport connection broken: malformed HTTP response',
        )
    if 200 <= response.status < 400:
        return Result.SUCCESS, ""
    return Result.FAILURE, f"HTTP probe failed with statuscode: {response.status}"


async def _tcp(target: str, port: int, host: Namespace, limit_s: float) -> tuple[Result, str]:
    try:
        with host.kernel.timeout(limit_s):
            connection = await host.dial(target, port, "raw")
    except TimedOut:
        return Result.FAILURE, f"dial tcp {target}:{port}: i/o timeout"
    except NetworkError as error:
        return Result.FAILURE, go_words(error, f"{target}:{port}")
    connection.close()
    return Result.SUCCESS, ""


async def _grpc(action: Object, address: str, host: Namespace, limit_s: float) -> tuple[Result, str]:
    target = f"{address}:{action['port']}"
    failed = f'timeout: failed to connect service "{target}" within {format_duration(limit_s)}: context deadline exceeded'
    try:
        with host.kernel.timeout(limit_s):
            connection = await host.dial(address, int(action["port"]), GRPC)
            try:
                connection.send(HealthCheckRequest(action.get("service") or ""))
                answer = await connection.receive()
            finally:
                connection.close()
    except TimedOut:
        return Result.FAILURE, failed
    except NetworkError as error:
        return Result.FAILURE, f"error: failed to connect to service {target}: {go_words(error, target)}"
    if isinstance(answer, HealthCheckResponse) and answer.status == "SERVING":
        return Result.SUCCESS, "service healthy"
    status = answer.status if isinstance(answer, HealthCheckResponse) else "UNKNOWN"
    return Result.FAILURE, f'service unhealthy (responded with "{status}")'

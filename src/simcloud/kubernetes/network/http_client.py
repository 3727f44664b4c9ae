"""HTTP requests between the cluster's Go programs, with Go's messages for network errors."""

from __future__ import annotations

from typing import Any

from simcloud.machine.network import (
    HTTP,
    HTTPS,
    ConnectionRefused,
    ConnectTimedOut,
    HostUnreachable,
    HttpRequest,
    NameNotFound,
    Namespace,
    NetworkError,
    ProtocolMismatch,
)


async def exchange(host: Namespace, target: str, port: int, scheme: str, request: HttpRequest) -> Any:
    """Ask once, over a connection of its own; what comes back, of whatever type it is."""
    connection = await host.dial(target, port, HTTPS if scheme == "https" else HTTP)
    try:
        connection.send(request, request.size_bytes)
        return await connection.receive()
    finally:
        connection.close()


def go_words(error: NetworkError, target: str) -> str:
    """A network's error as Go programs word it."""
    if isinstance(error, ConnectionRefused):
        return f"dial tcp {target}: connect: connection refused"
    if isinstance(error, HostUnreachable):
        return f"dial tcp {target}: connect: no route to host"
    if isinstance(error, ConnectTimedOut):
        return f"dial tcp {target}: i/o timeout"
    if isinstance(error, NameNotFound):
        return f"dial tcp: lookup {target.rpartition(':')[0]}: no such host"
    if isinstance(error, ProtocolMismatch) and error.spoken == HTTPS:
        if error.expected == HTTP:
            return "http: server gave HTTP response to HTTPS client"
        return "tls: first record does not look like a TLS handshake"
    return "EOF" if "clos" in str(error).lower() else f"read tcp {target}: {str(error).lower()}"

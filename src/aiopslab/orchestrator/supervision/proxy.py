"""An HTTP proxy that leads an isolated agent to the endpoints it may reach, and nowhere else.

Its listening socket belongs to the agent's network namespace, which has no other way out, and was passed to the supervisor through
a Unix socket; the proxy itself runs outside. It tunnels (``CONNECT``) for HTTPS. A plain HTTP request is passed on as one request
per connection.
"""

from __future__ import annotations

import select
import socket
import threading
from contextlib import suppress
from typing import Final

MAX_CONNECTIONS: Final = 32
_HEAD_BYTES: Final = 65536
_CONNECT_S: Final = 20.0
_IDLE_S: Final = 900.0
_CHUNK_BYTES: Final = 65536


def serve_endpoints(listener: socket.socket, endpoints: tuple[str, ...]) -> None:
    """Serve the proxy in threads of its own, until this process ends."""
    places = threading.BoundedSemaphore(MAX_CONNECTIONS)

    def serve(client: socket.socket) -> None:
        try:
            with client, suppress(OSError):
                _serve_client(client, endpoints)
        finally:
            places.release()

    def accept() -> None:
        while True:
            places.acquire()
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _serve_client(client: socket.socket, endpoints: tuple[str, ...]) -> None:
    client.settimeout(_IDLE_S)
    head, body = _read_head(client)
    line, _, fields = head.partition(b"\r\n")
    words = line.decode("latin-1").split(" ")
    if len(words) != 3:
        client.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        return
    method, target, version = words
    address, path = (target, "") if method == "CONNECT" else _split_url(target)
    if address not in endpoints:
        refusal = f"{address} is not an endpoint of this agent.\n".encode()
        client.sendall(
            b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(refusal)
            + refusal
        )
        return
    host, _, port = address.rpartition(":")
    try:
        server = socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S)
    except OSError:
        client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n")
        return
    with server:
        if method == "CONNECT":
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            server.sendall(body)
        else:
            kept = [
                field
                for field in fields.split(b"\r\n")
                if not field.lower().startswith((b"connection:", b"proxy-"))
            ]
            request = f"{method} {path} {version}\r\nConnection: close\r\n".encode("latin-1")
            server.sendall(request + b"\r\n".join(kept) + b"\r\n\r\n" + body)
        _relay(client, server)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _HEAD_BYTES:
        chunk = client.recv(_CHUNK_BYTES)
        if not chunk:
            break
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    return head, body


def _split_url(url: str) -> tuple[str, str]:
    """Return the address and the path of a plain URL."""
    place, slash, path = url.removeprefix("http://").partition("/")
    has_port = place.rpartition(":")[2].isdecimal()
    return place if has_port else f"{place}:80", slash + path or "/"


def _relay(client: socket.socket, server: socket.socket) -> None:
    """Copy data both ways until one side closes or nothing comes for a long time."""
    others = {client: server, server: client}
    while readable := select.select(list(others), (), (), _IDLE_S)[0]:
        for end in readable:
            data = end.recv(_CHUNK_BYTES)
            if not data:
                return
            others[end].sendall(data)

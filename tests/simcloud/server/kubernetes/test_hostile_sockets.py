"""Clients that trickle, break off, talk nonsense or never read, over real sockets. The server outlives them all."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.simcloud.server.kubernetes.served import PATIENCE_S, Served, cluster

WATCHES = 200
CONNECTIONS = 150
GROWTH_KB = 60_000
"""What so many connections may leave behind in the server's memory, at most."""


class Wire:
    """Raw connections to a served cluster, and what the server's process says of itself."""

    def __init__(self, served: Served) -> None:
        config = yaml.safe_load(served.kubeconfig.read_text())
        url = urlsplit(config["clusters"][0]["cluster"]["server"])
        assert url.hostname is not None and url.port is not None
        self.address = (url.hostname, url.port)
        self.token = config["users"][0]["user"]["token"]
        self.context = ssl.create_default_context()
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        self.pid = served.pid

    def plain(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE_S)

    def secure(self) -> ssl.SSLSocket:
        return self.context.wrap_socket(self.plain())

    def head(self, method: str, path: str, *headers: str) -> bytes:
        lines = [
            f"{method} {path} HTTP/1.1",
            "Host: x",
            f"Authorization: Bearer {self.token}",
            *headers,
            "",
            "",
        ]
        return "\r\n".join(lines).encode()

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        """A whole exchange on a connection of its own."""
        with closing(
            http.client.HTTPSConnection(*self.address, context=self.context, timeout=PATIENCE_S)
        ) as one:
            one.request(method, path, body, {"Authorization": f"Bearer {self.token}", **headers})
            answer = one.getresponse()
            return answer.status, answer.read()

    def works(self) -> bool:
        code, body = self.ask("GET", "/api/v1/namespaces/default")
        return code == 200 and json.loads(body)["metadata"]["name"] == "default"

    def memory_kb(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def settles_at(self, files: int) -> bool:
        """Whether the server has let go of its connections, after a moment."""
        deadline = time.monotonic() + PATIENCE_S
        while self.open_files() > files and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.open_files() <= files


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    with cluster(tmp_path_factory.mktemp("hostile")) as served:
        yield Wire(served)
        log = (served.home / "server.log").read_text()
        assert "failed\nTraceback" not in log, log  # so the application tells its own errors


def test_a_request_that_trickles_is_served(wire: Wire) -> None:
    body = b'{"metadata":{"name":"trickled"}}'
    head = wire.head(
        "POST", "/api/v1/namespaces", "Content-Type: application/json", f"Content-Length: {len(body)}"
    )
    with closing(wire.secure()) as slow:
        for byte in head[:40]:
            slow.sendall(bytes([byte]))
        slow.sendall(head[40:])
        for start in range(0, len(body), 4):
            slow.sendall(body[start : start + 4])
            assert wire.works()
        assert slow.recv(20).startswith(b"HTTP/1.1 201")


@pytest.mark.parametrize("sent", [b"", b"GE", b"GET /api HTTP/1.1\r\nHos"])
def test_a_request_that_breaks_off(wire: Wire, sent: bytes) -> None:
    with closing(wire.secure()) as broken:
        broken.sendall(sent)
    assert wire.works()


def test_a_body_that_breaks_off_writes_nothing(wire: Wire) -> None:
    head = wire.head("POST", "/api/v1/namespaces", "Content-Type: application/json", "Content-Length: 4000")
    for _ in range(20):
        with closing(wire.secure()) as broken:
            broken.sendall(head + b'{"metadata":{"name":"half"}}')
    assert wire.works()
    assert wire.ask("GET", "/api/v1/namespaces/half")[0] == 404


def test_a_body_that_is_too_large_is_not_read_to_its_end(wire: Wire) -> None:
    with closing(wire.secure()) as huge:
        huge.sendall(wire.head("POST", "/api/v1/namespaces", "Content-Length: 99999999999"))
        assert huge.recv(12) == b"HTTP/1.1 413"
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with closing(wire.secure()) as endless:
        endless.sendall(wire.head("POST", "/api/v1/namespaces", "Transfer-Encoding: chunked"))
        try:
            for _ in range(60):
                endless.sendall(chunk)
        except OSError:
            pass  # it may hang up on us before we have sent all of it
        assert endless.recv(12) == b"HTTP/1.1 413"
    assert wire.works()


@pytest.mark.parametrize(
    "noise",
    [
        b"\x00" * 5000,
        b"\x16\x03\x01\xff\xff" + b"A" * 3000,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"",
    ],
    ids=["zeros", "torn-tls", "plain-http", "ssh", "silence"],
)
def test_noise_instead_of_tls(wire: Wire, noise: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(closing(wire.plain())).sendall(noise)
        assert wire.works()


@pytest.mark.parametrize(
    "request_line",
    [b"\x00\x01\x02\r\n\r\n", b"GET /\r\n\r\n", b"GET  /  HTTP/9.9\r\n\r\n", b"A" * 100_000, b"GET / HTTP/1.1\r\nA: " + b"b" * 200_000,
     b"GET /%zz%00 HTTP/1.1\r\nHost: x\r\n\r\n", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
     b"POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
)  # fmt: skip
def test_noise_instead_of_http(wire: Wire, request_line: bytes) -> None:
    with closing(wire.secure()) as noisy:
        try:
            noisy.sendall(request_line)
        except OSError:
            pass  # it hung up early
        assert wire.works()


def test_watches_that_are_dropped_leave_nothing_behind(wire: Wire) -> None:
    assert wire.works()
    files, before = wire.open_files(), wire.memory_kb()
    with ExitStack() as stack:
        for number in range(WATCHES):
            path = f"/api/v1/configmaps?watch=1&labelSelector=n%3D{number}&resourceVersion=0"
            one = stack.enter_context(closing(wire.secure()))
            one.sendall(wire.head("GET", path))
            assert one.recv(15) == b"HTTP/1.1 200 OK"
        assert wire.open_files() > files + WATCHES // 2
    assert wire.settles_at(files + 2)
    # Writes reach no listener that has gone: what each costs does not depend on the watches there were.
    for number in range(20):
        body = json.dumps({"metadata": {"name": f"after-{number}"}}).encode()
        path = "/api/v1/namespaces/default/configmaps"
        assert wire.ask("POST", path, body, **{"Content-Type": "application/json"})[0] == 201
    assert wire.memory_kb() - before < GROWTH_KB


def test_a_watcher_that_never_reads_holds_up_nobody(wire: Wire) -> None:
    before = wire.memory_kb()
    with ExitStack() as stack:
        for _ in range(5):
            one = stack.enter_context(closing(wire.secure()))
            one.sendall(wire.head("GET", "/api/v1/namespaces/default/secrets?watch=1"))
        data = "x" * 100_000
        for number in range(40):
            body = json.dumps({"metadata": {"name": f"large-{number}"}, "stringData": {"d": data}}).encode()
            path = "/api/v1/namespaces/default/secrets"
            assert wire.ask("POST", path, body, **{"Content-Type": "application/json"})[0] == 201
        assert wire.works()
    assert wire.memory_kb() - before < GROWTH_KB
    assert wire.ask("DELETE", "/api/v1/namespaces/default/secrets")[0] == 200


def test_many_connections_at_once(wire: Wire) -> None:
    files, before = wire.open_files(), wire.memory_kb()
    with ExitStack() as stack:
        held = [stack.enter_context(closing(wire.secure())) for _ in range(CONNECTIONS)]
        for one in held:
            one.sendall(wire.head("GET", "/healthz"))
        for one in held:
            assert one.recv(15) == b"HTTP/1.1 200 OK"
        assert wire.works()
    assert wire.settles_at(files + 2)
    assert wire.memory_kb() - before < GROWTH_KB

"""A server in a thread of the test's process, and a client for it."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.servers.http_api import Guard, HttpApp, ServerLimits, Sessions, serve
from aiopslab.servers.http_api.answers import ANSWERS
from aiopslab.servers.http_api.app import ENDPOINTS

TOKEN = "a-token-of-the-tests-0123456789"
WAIT_S = 240


@dataclass
class Answer:
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def error(self) -> str:
        return str(self.json["error"])


def check_description(method: str, path: str, answer: Answer) -> None:
    """Check that an answer has exactly the fields that the interface's description has for it."""
    if answer.status >= 300:
        return
    for endpoint in ENDPOINTS:
        pattern = re.sub(r"\{\w+(:path)?\}", lambda found: ".+" if found[1] else "[^/]+", endpoint.path)
        if endpoint.method == method and re.fullmatch(pattern, path.partition("?")[0]):
            kind = ANSWERS.get(endpoint.handle.__name__)
            if kind is not None:
                assert msgspec.to_builtins(msgspec.json.decode(answer.data, type=kind)) == answer.json


@dataclass
class RunningServer:
    """A server that answers, and what the tests reach behind its back."""

    port: int
    sessions: Sessions
    results: Path

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = TOKEN,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request; bodies other than bytes are sent as JSON."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            received = connection.getresponse()
            named = {name.lower(): value for name, value in received.getheaders()}
            answer = Answer(received.status, named, received.read())
            check_description(method, path, answer)
            return answer
        finally:
            connection.close()

    def begin(self, problem: str, **order: Any) -> dict[str, Any]:
        """Begin a session that must open."""
        answer = self.ask("POST", "/api/sessions", {"problem": problem, **order})
        assert answer.status == 201, answer.data
        return dict(answer.json)

    def act(self, id: str, action: str) -> Answer:
        """Take a step."""
        return self.ask("POST", f"/api/sessions/{id}/actions", {"action": action})

    def wait_for_end(self, id: str) -> dict[str, Any]:
        """Follow the events of a session to its end; return its description."""
        answer = self.ask("GET", f"/api/sessions/{id}/events")
        assert b"event: ended" in answer.data
        return dict(self.ask("GET", f"/api/sessions/{id}").json)

    def kill(self, id: str) -> None:
        """Kill the process of a session."""
        os.kill(self.ask("GET", f"/api/sessions/{id}").json["pid"], signal.SIGKILL)

    def raw(self, data: bytes) -> bytes:
        """Send bytes, and return all that comes back until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as connection:
            connection.sendall(data)
            received = b""
            while part := connection.recv(65536):
                received += part
            return received


@contextmanager
def run_server(results: Path, limits: ServerLimits | None = None) -> Iterator[RunningServer]:
    """Run a server; at the end it is stopped, and all its sessions are recorded."""
    bound = socket.create_server(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    sessions = Sessions(ProblemRegistry(), results, limits or ServerLimits())
    app = HttpApp(sessions, Guard(TOKEN, sessions, port=port))
    ready = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def work() -> None:
        stop = asyncio.Event()
        loops.append((asyncio.get_running_loop(), stop))
        await serve(app, sessions, bound, stop, ready.set)

    thread = threading.Thread(target=asyncio.run, args=(work(),), name="server")
    thread.start()
    try:
        assert ready.wait(WAIT_S)
        yield RunningServer(port, sessions, results)
    finally:
        loop, stop = loops[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(WAIT_S)
        assert not thread.is_alive()

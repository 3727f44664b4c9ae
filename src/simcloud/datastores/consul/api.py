"""Consul's HTTP API on port 8500: routes, blocking queries and the form of responses.

A dev agent indents its JSON, as if every request had the parameter ``?pretty``.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from simcloud.datastores.consul.documents import agent_service_document
from simcloud.datastores.consul.identity import AGENT_DOCUMENTS, Identity
from simcloud.datastores.consul.log import ConsulLog
from simcloud.datastores.consul.queries import READERS, Answer, Reader
from simcloud.datastores.consul.registrations import WRITES, Action, Writer
from simcloud.datastores.consul.request import ApiRequest, Refused, UnknownService, parse_request
from simcloud.datastores.consul.state import State
from simcloud.golang import format_duration, parse_duration_s
from simcloud.machine.network import Connection, HttpRequest, HttpResponse, send_response
from simcloud.machine.process import Context
from simcloud.sim import TimedOut

DEFAULT_WAIT_S: Final = 300.0
MAX_WAIT_S: Final = 600.0
JITTER: Final = 16
"""A blocking query waits up to a sixteenth longer, so that not all come back at once."""

REQUEST_CPU_S: Final = 0.000_2
NOT_AN_ENDPOINT: Final = "Invalid URL path: not a recognized HTTP API endpoint"
PAGE: Final = b'<!DOCTYPE html>\n<html lang="en">\n<head><title>Consul by HashiCorp</title></head>\n<body>\n<noscript><h1>JavaScript Required</h1></noscript>\n</body>\n</html>\n'


class Api:
    """Answers HTTP requests from the state of one agent."""

    def __init__(
        self, ctx: Context, identity: Identity, state: State, writer: Writer, log: ConsulLog
    ) -> None:
        self._ctx = ctx
        self._identity = identity
        self._state = state
        self._writer = writer
        self._log = log

    def accept(self, connection: Connection) -> None:
        """Serve the requests of a client that has connected."""

        def take(request: HttpRequest) -> None:
            self._ctx.spawn(self._serve(connection, request), f"{request.method} {request.path}"[:80])

        connection.on_message = take
        connection.on_close = lambda _error: connection.close()

    async def _serve(self, connection: Connection, http_request: HttpRequest) -> None:
        began = self._ctx.kernel.now
        await self._ctx.cpu(REQUEST_CPU_S)
        request = parse_request(http_request)
        try:
            response = await self._answer(request)
        except Refused as refusal:
            response = HttpResponse(
                refusal.status, str(refusal).encode(), {"Content-Type": "text/plain; charset=utf-8"}
            )
            self._log_error(request, connection, refusal)
        latency = format_duration(self._ctx.kernel.now - began)
        source = f"{connection.remote[0]}:{connection.remote[1]}"
        self._log.debug("agent.http", f"Request finished: method={request.method} url={request.url} from={source} latency={latency}")  # fmt: skip
        response.headers["Content-Length"] = str(len(response.body))
        send_response(connection, http_request, response)

    def _log_error(self, request: ApiRequest, connection: Connection, refusal: Refused) -> None:
        source = f"{connection.remote[0]}:{connection.remote[1]}"
        self._log.error(
            "agent.http",
            f'Request error: method={request.method} url={request.url} from={source} error="{refusal}"',
        )

    async def _answer(self, request: ApiRequest) -> HttpResponse:
        path = request.path
        if path == "/":
            return HttpResponse(301, b'<a href="/ui/">Moved Permanently</a>.\n\n', {"Location": "/ui/"})
        if path.startswith("/ui"):
            return HttpResponse(200, PAGE, {"Content-Type": "text/html; charset=utf-8"})
        for prefix, action in WRITES.items():
            if _is_under(path, prefix):
                if request.method != "PUT":
                    raise Refused(405, f"method {request.method} not allowed")
                return self._write(request, prefix, action)
        if request.method in ("GET", "HEAD"):
            for prefix, reader in READERS.items():
                if _is_under(path, prefix):
                    return await self._read(request, path[len(prefix) :], reader)
        return self._agent(request)

    def _agent(self, request: ApiRequest) -> HttpResponse:
        """Answer a request about the agent itself."""
        state, path = self._state, request.path
        document = AGENT_DOCUMENTS.get(path)
        if document is not None:
            return _json(document(state, self._identity))
        if path == "/v1/agent/monitor":
            return HttpResponse(200, "".join(f"{line}\n" for line in self._log.lines).encode())
        if not path.startswith("/v1/agent/service/"):
            raise Refused(404, NOT_AN_ENDPOINT)
        id = path.removeprefix("/v1/agent/service/")
        service = state.services.get(id)
        if service is None:
            raise UnknownService(id)
        return _json(agent_service_document(service))

    def _write(self, request: ApiRequest, prefix: str, action: Action) -> HttpResponse:
        if not self._identity.is_leader:
            raise Refused(500, "No cluster leader")
        self._writer.apply(request, request.path[len(prefix) :], action)
        return HttpResponse(200)

    async def _read(self, request: ApiRequest, rest: str, reader: Reader) -> HttpResponse:
        if not self._identity.is_leader:
            raise Refused(500, "No cluster leader")
        index, document = await self._wait(request, rest, reader)
        headers = {
            "X-Consul-Default-Acl-Policy": "allow",
            "X-Consul-Effective-Consistency": "leader",
            "X-Consul-Index": str(index),
            "X-Consul-Knownleader": "true",
            "X-Consul-Lastcontact": "0",
        }
        return _json(document, headers)

    async def _wait(self, request: ApiRequest, rest: str, reader: Reader) -> Answer:
        """Return the answer; a blocking query waits for a larger index, or until its time is over."""
        answer = reader(self._state, request, rest)
        wanted = request.params.get("index", "0")
        if not (wanted.isascii() and wanted.isdigit()):
            raise Refused(400, "Invalid index")
        last = int(wanted[:18])
        if last == 0:
            return answer
        deadline = self._ctx.kernel.now + self._wait_limit_s(request)
        while answer[0] <= last:
            left_s = deadline - self._ctx.kernel.now
            if left_s <= 0:
                break
            try:
                await self._state.changed.wait(left_s)
            except TimedOut:
                break
            answer = reader(self._state, request, rest)
        return answer

    def _wait_limit_s(self, request: ApiRequest) -> float:
        try:
            wait_s = (
                parse_duration_s(request.params["wait"]) if request.params.get("wait") else DEFAULT_WAIT_S
            )
        except ValueError:
            raise Refused(400, "Invalid wait time") from None
        wait_s = min(wait_s if wait_s > 0 else DEFAULT_WAIT_S, MAX_WAIT_S)
        return wait_s + self._ctx.random("blocking").random() * wait_s / JITTER


def _is_under(path: str, prefix: str) -> bool:
    return path == prefix or (prefix.endswith("/") and path.startswith(prefix))


def _json(document: Any, headers: dict[str, str] | None = None) -> HttpResponse:
    body = msgspec.json.format(msgspec.json.encode(document), indent=4) + b"\n"
    return HttpResponse(
        200, body, {"Content-Type": "application/json", "Vary": "Accept-Encoding", **(headers or {})}
    )

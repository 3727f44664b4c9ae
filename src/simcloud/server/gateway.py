"""A gateway for real HTTP clients to an application's front door, when its cluster runs in real time.

A request from curl, wrk or a browser on this host is sent by a simulated client outside the cluster, and its response
is passed back. There are no upgrades and no streaming. Sizes of bodies and waiting times are limited.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from simcloud.machine.network import HttpRequest, HttpResponse
from simcloud.machine.process import Context
from simcloud.server.kubernetes.live import Pace
from simcloud.server.request_bodies import read_limited_body
from simcloud.services import FrontDoor, Sender, SendFailed

PATIENCE_S: Final = 60.0
BODY_BYTES: Final = 1 << 20
_OF_THE_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer"}
)


class Gateway:
    """An ASGI application. Before it serves requests, its ``program`` must run outside the cluster and its ``pace`` must be set."""

    def __init__(self, door: FrontDoor, pace: Pace | None = None) -> None:
        self._door = door
        self.pace = pace
        self._ctx: Context | None = None
        self._sender: Sender | None = None

    async def program(self, ctx: Context) -> int:
        """The client inside the world on whose behalf requests are sent."""
        self._ctx, self._sender = ctx, self._door.open(ctx)
        while True:
            await ctx.sleep(86_400.0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            body = await read_limited_body(request, BODY_BYTES)
        except ClientDisconnect:
            return
        if body is None:
            response: Response = PlainTextResponse("The body is too large.\n", 413)
        else:
            response = await self._exchange(_make_request(request, body))
        await response(scope, receive, send)

    async def _exchange(self, request: HttpRequest) -> Response:
        if self.pace is not None:
            self.pace.catch_up()
        if self._ctx is None or self.pace is None:
            return PlainTextResponse("The world has not begun yet. Try again in a moment.\n", 503)
        answered: asyncio.Future[HttpResponse | str] = asyncio.get_running_loop().create_future()
        self._ctx.spawn(self._ask(request, answered), "a request from the host")
        self.pace.poke()
        try:
            # The virtual time-out comes first unless the world runs slower than the wall clock.
            answer = await asyncio.wait_for(answered, PATIENCE_S + 5)
        except TimeoutError:
            answer = "timeout"
        if isinstance(answer, str):
            status = 504 if answer.startswith("timeout") else 502
            return PlainTextResponse(f"No answer from the front door: {answer}\n", status)
        response = Response(answer.body, answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in _OF_THE_CONNECTION | {"content-length"}:
                response.headers[name] = value
        return response

    async def _ask(self, request: HttpRequest, answered: asyncio.Future[HttpResponse | str]) -> None:
        assert self._sender is not None
        answer: HttpResponse | str
        try:
            _, answer = await self._sender.send(request, PATIENCE_S)
        except SendFailed as failure:
            answer = str(failure)
        if not answered.done():
            answered.set_result(answer)


def _make_request(request: Request, body: bytes) -> HttpRequest:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    headers = {
        name.title(): value for name, value in request.headers.items() if name not in _OF_THE_CONNECTION
    }
    return HttpRequest(request.method, path, headers, body)

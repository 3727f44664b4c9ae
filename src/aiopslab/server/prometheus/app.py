"""Prometheus' HTTP API over a ``PrometheusApi``: an ASGI application.

Parameters come in the query string or, by POST, as a form. Nothing that a client sends ends the server: a
refusal is a document in Prometheus' words, a fault of ours a 500 that is logged.
"""

from __future__ import annotations

import json
import logging
import secrets
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from aiopslab.observer.prometheus_api import ApiRefusal, PrometheusApi
from aiopslab.server.kubernetes.live import Pace

log = logging.getLogger("aiopslab.server")

PREFIX: Final = "/api/v1/"
FORM_BYTES: Final = 1 << 20
_BY_FORM: Final = frozenset({"query", "query_range", "labels", "series"})
_PLAIN: Final = {"/-/ready": "Prometheus Server is Ready.\n", "/-/healthy": "Prometheus Server is Healthy.\n"}


class PrometheusApp:
    """Serves one store. ``live`` brings the world to the present before a request meets it.

    With a ``token`` only those who bring it are answered.
    """

    def __init__(self, api: PrometheusApi, live: Pace, token: str | None = None) -> None:
        self.api = api
        self.live = live
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, by ASGI's rules."""
        if scope["type"] != "http":
            return
        try:
            response = await self._respond(Request(scope, receive))
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        path, method = request.scope["path"], request.method
        if not self._may_ask(request):
            return PlainTextResponse("Unauthorized\n", 401, {"www-authenticate": "Bearer"})
        if path in _PLAIN:
            return PlainTextResponse(_PLAIN[path])
        route = path.removeprefix(PREFIX)
        if route == path or not self.api.serves(route):
            return PlainTextResponse("404 page not found\n", 404)
        if method not in ("GET", "HEAD") and not (method == "POST" and route in _BY_FORM):
            return PlainTextResponse("Method Not Allowed\n", 405, {"allow": "GET, OPTIONS"})
        parameters = parse_qs(request.url.query, keep_blank_values=True)
        if method == "POST":
            form = await _form(request)
            if form is None:
                return PlainTextResponse("http: request body too large\n", 413)
            for name, values in form.items():
                parameters[name] = values + parameters.get(name, [])
        try:
            self.live.catch_up()
            return _document(self.api.answer(route, parameters))
        except ApiRefusal as refusal:
            return _document(refusal.document, refusal.status)
        except Exception:
            log.exception("%s %s failed", method, path)
            failure = ApiRefusal("internal", "the server met an error of its own; it is in the server's log")
            return _document(failure.document, failure.status)

    def _may_ask(self, request: Request) -> bool:
        if self._token is None:
            return True
        given = request.headers.get("authorization", "")
        return secrets.compare_digest(given.encode(), f"Bearer {self._token}".encode())


async def _form(request: Request) -> dict[str, list[str]] | None:
    """What a form says; None when it is too long."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > FORM_BYTES:
            return None
    return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)


def _document(document: dict[str, Any], status: int = 200) -> Response:
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Response(body.encode("utf-8", "replace"), status, media_type="application/json")

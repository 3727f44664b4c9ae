"""The query APIs over HTTP: an ASGI application.

Parameters are in the query string or, where an API allows it, in a POSTed form. No client input ends the server: an
error has the format of its API, and an internal error is a 500 that is logged. The token is a bearer token, or the
password of any user, for browsers and Grafana.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import secrets
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from simcloud.server.kubernetes.live import Pace
from simcloud.server.request_bodies import read_limited_body
from simcloud.server.telemetry.apis import QueryApi
from simcloud.telemetry import NOT_FOUND

_LINKS: Final = {
    "Prometheus": (
        "/api/v1/query?query=up",
        "/api/v1/alerts",
        "/api/v1/targets",
        "/api/v1/rules",
        "/api/v1/label/__name__/values",
    ),
    "Jaeger": ("/api/services", "/api/dependencies?lookback=3600000"),
    "Loki": ("/loki/api/v1/labels", "/loki/api/v1/label/namespace/values"),
    "who calls whom": ("/topology?lookback_s=300",),
}


def _page() -> str:
    parts = []
    for name, links in _LINKS.items():
        items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        parts.append(f"<h2>{name}</h2><ul>{items}</ul>")
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>aiopslab telemetry</title>'
        "<style>body{font:16px/1.5 system-ui;margin:3em auto;max-width:40em}h2{margin-bottom:0}</style>"
        "<h1>Telemetry of this cluster</h1><p>This address is a data source for Grafana: Prometheus, Jaeger and Loki at once."
        f"</p>{''.join(parts)}</html>"
    )


WELCOME: Final = _page()


log = logging.getLogger("simcloud.server")

FORM_BYTES: Final = 1 << 20
_CHALLENGE: Final = {"www-authenticate": 'Basic realm="aiopslab: any user, the token as password"'}


class TelemetryApp:
    """Serves APIs. ``live`` advances the world to the present before each request.

    With a ``token`` every request must have it.
    """

    def __init__(self, apis: Sequence[QueryApi], live: Pace, token: str | None = None) -> None:
        self._apis = apis
        self._live = live
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
            return PlainTextResponse("Unauthorized\n", 401, _CHALLENGE)
        if path == "/":
            return HTMLResponse(WELCOME)
        api = next((api for api in self._apis if api.serves(path)), None)
        if api is None:
            return PlainTextResponse(NOT_FOUND, 404)
        if method not in ("GET", "HEAD") and not (method == "POST" and api.takes_forms(path)):
            return PlainTextResponse("Method Not Allowed\n", 405, {"allow": "GET, OPTIONS"})
        parameters = parse_qs(request.url.query, keep_blank_values=True)
        if method == "POST":
            body = await read_limited_body(request, FORM_BYTES)
            if body is None:
                return PlainTextResponse("http: request body too large\n", 413)
            form = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
            for name, values in form.items():
                parameters[name] = values + parameters.get(name, [])
        try:
            self._live.catch_up()
            status, document = api.answer(path, parameters)
            return _response(document, status)
        except Exception:
            log.exception("%s %s failed", method, path)
            return PlainTextResponse("the server met an error of its own; it is in the server's log\n", 500)

    def _may_ask(self, request: Request) -> bool:
        if self._token is None:
            return True
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            given = _password(given)
        elif scheme.lower() != "bearer":
            return False
        return secrets.compare_digest(given.encode(), self._token.encode())


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


def _response(content: Any, status: int) -> Response:
    if isinstance(content, str):
        return PlainTextResponse(content, status)
    body = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Response(body.encode("utf-8", "replace"), status, media_type="application/json")

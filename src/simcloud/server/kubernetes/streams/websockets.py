"""The handshake of WebSockets: authentication, target and protocol.

Until a stream is accepted, an error is an HTTP response with a Status, as for any other request.
"""

from __future__ import annotations

import base64
import binascii
import logging
from contextlib import suppress
from dataclasses import replace
from typing import Final

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from simcloud.kubernetes.api import ApiError, InternalError
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import Target, read_target
from simcloud.server.kubernetes.responses import refusal
from simcloud.server.kubernetes.streams import commands, ports
from simcloud.server.kubernetes.streams.link import relay
from simcloud.server.kubernetes.streams.requests import check_target, find_pod
from simcloud.server.kubernetes.streams.tunnel import PROTOCOL, Tunnel

log = logging.getLogger("simcloud.server")

_TOKEN_PREFIX: Final = "base64url.bearer.authorization.k8s.io."
"""A browser cannot set headers: it hides its token among the protocols it offers."""


async def serve(app: AppContext, scope: Scope, receive: Receive, send: Send) -> None:
    """One WebSocket, by ASGI's rules."""
    socket = WebSocket(_with_token(scope), receive, send)
    await socket.receive()
    try:
        app.live.catch_up()
        target = read_target("GET", socket.url.path, socket.query_params)
        # Since 1.35 a WebSocket must be allowed both as what its method says and as what it does.
        app.authorize(socket, target)
        check_target(target)
        app.authorize(socket, replace(target, verb="create"))
        await _serve(app, socket, target)
    except ApiError as error:
        await _refuse(socket, error)
    except (WebSocketDisconnect, OSError):
        pass
    except Exception:
        log.exception("WebSocket %s failed", scope["path"])
        await _refuse(socket, InternalError("the server met an error of its own; it is in the server's log"))


async def _serve(app: AppContext, socket: WebSocket, target: Target) -> None:
    if target.subresource != "portforward":
        await commands.serve(app, socket, target)
    elif PROTOCOL in socket.scope["subprotocols"]:
        await _tunnel(app, socket, target)
    else:
        await ports.serve(app, socket, target)


async def _tunnel(app: AppContext, socket: WebSocket, target: Target) -> None:
    pod, runtime = find_pod(app, target)
    tunnel = Tunnel(lambda port: runtime.forward(pod, port), app.live.poke)
    await socket.accept(PROTOCOL)
    try:
        await relay(socket, tunnel.outbox, tunnel.take)
    finally:
        tunnel.close()


async def _refuse(socket: WebSocket, error: ApiError) -> None:
    if socket.application_state is not WebSocketState.CONNECTING:
        return
    with suppress(WebSocketDisconnect, OSError):
        if "websocket.http.response" in socket.scope.get("extensions", {}):
            await socket.send_denial_response(refusal(error))
        else:
            await socket.close()


def _with_token(scope: Scope) -> Scope:
    """Return the scope with a token that came as a protocol in the header where all others come."""
    offered = list(scope.get("subprotocols", []))
    tokens = [name for name in offered if name.startswith(_TOKEN_PREFIX)]
    rest = [name for name in offered if not name.startswith(_TOKEN_PREFIX)]
    headers = list(scope["headers"])
    if len(tokens) == 1 and rest and not any(name == b"authorization" for name, _ in headers):
        text = tokens[0].removeprefix(_TOKEN_PREFIX)
        with suppress(binascii.Error, ValueError):
            token = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            headers.append((b"authorization", b"Bearer " + token))
    return {**scope, "subprotocols": rest, "headers": headers}

"""Refusals of streams: on a WebSocket's handshake, and of requests that are no WebSocket at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from starlette.requests import Request

from simcloud.kubernetes.api.errors import ApiError, BadRequest
from simcloud.kubernetes.api.subresources.log import choose_container
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.paths import read_target
from simcloud.server.kubernetes.streams.requests import check_target, find_pod, open_session, read_wishes

SPDY_REFUSED: Final = (
    "this server streams over WebSocket only and the client asked for SPDY; use kubectl 1.31 or newer"
)


def needs_websocket(request: Request, app: AppContext | None = None) -> ApiError:
    """Why a request for a stream that is no WebSocket is refused.

    kubectl asks again by SPDY when a WebSocket was refused, and shows only the second answer: with ``app``,
    that answer is the reason for which a WebSocket would be refused.
    """
    if "spdy/" not in request.headers.get("upgrade", "").lower():
        return BadRequest("Upgrade request required")
    if app is not None:
        try:
            _try(app, request)
        except ApiError as error:
            return error
    return BadRequest(SPDY_REFUSED)


def _try(app: AppContext, request: Request) -> None:
    """Raise what a WebSocket would meet. No command is run: joining and leaving a container has no effect."""
    target = read_target(request.method, request.url.path, request.query_params)
    check_target(target)
    if target.subresource == "portforward":
        find_pod(app, target)
        return
    wishes = read_wishes(request.query_params, target.subresource)
    if target.subresource == "exec":
        pod, runtime = find_pod(app, target)
        runtime.check_exec(pod, choose_container(pod, wishes.container))
    else:
        open_session(app, target, replace(wishes, stdin=False)).stop()

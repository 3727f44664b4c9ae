"""Container logs over HTTP: plain text, followed for as long as the client stays."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from simcloud.kubernetes.api import LogOptions, LogStream
from simcloud.kubernetes.api.subresources import open_log
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.parameters import log_options
from simcloud.server.kubernetes.paths import Target


def serve(app: AppContext, request: Request, target: Target) -> Response:
    """Stream a container's log."""
    options: LogOptions = log_options(request.query_params)
    stream = open_log(app.api, target.namespace, target.name, options)
    return StreamingResponse(_text(app, stream), media_type="text/plain")


async def _text(app: AppContext, stream: LogStream) -> AsyncIterator[bytes]:
    waiting: list[bytes] = []
    arrived = app.signal()
    ended = False

    def take(data: bytes) -> None:
        waiting.append(data)
        arrived.set()

    def end() -> None:
        nonlocal ended
        ended = True
        arrived.set()

    stream.on_data, stream.on_end = take, end
    app.live.poke()
    try:
        while True:
            arrived.clear()
            if waiting:
                data, waiting[:] = b"".join(waiting), []
                yield data
            elif ended:
                return
            else:
                await arrived.wait()
    finally:
        stream.stop()

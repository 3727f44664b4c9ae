"""Container logs over HTTP: plain text, followed for as long as the client stays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from simcloud.kubernetes.api import LogOptions, LogStream
from simcloud.kubernetes.api.subresources import open_log
from simcloud.server.kubernetes.context import AppContext
from simcloud.server.kubernetes.parameters import log_options
from simcloud.server.kubernetes.paths import Target

MAX_UNREAD_BYTES: Final = 64 << 20


def serve(app: AppContext, request: Request, target: Target) -> Response:
    """Stream a container's log."""
    options: LogOptions = log_options(request.query_params)
    return StreamingResponse(
        _Text(app, open_log(app.api, target.namespace, target.name, options)).read(), media_type="text/plain"
    )


class _Text:
    """What a log stream has given and the client has not been sent yet, from the moment it is opened: time may pass before the
    response begins. The stream ends when a client leaves too much unread."""

    def __init__(self, app: AppContext, stream: LogStream) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []
        self._unread_bytes = 0
        self._arrived = app.signal()
        self._ended = False
        stream.on_data, stream.on_end = self._take, self._end
        app.live.poke()

    def _take(self, data: bytes) -> None:
        self._waiting.append(data)
        self._arrived.set()
        self._unread_bytes += len(data)
        if self._unread_bytes > MAX_UNREAD_BYTES:
            self._stream.stop()
            self._end()

    def _end(self) -> None:
        self._ended = True
        self._arrived.set()

    async def read(self) -> AsyncIterator[bytes]:
        """Yield the text as it comes, until the log or the client ends."""
        try:
            while True:
                self._arrived.clear()
                if self._waiting:
                    data, self._waiting, self._unread_bytes = b"".join(self._waiting), [], 0
                    yield data
                elif self._ended:
                    return
                else:
                    await self._arrived.wait()
        finally:
            self._stream.stop()

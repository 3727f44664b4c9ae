"""Runs the server until it is stopped; then every session ends in a record."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import uvicorn

from aiopslab.servers.http_api.app import HttpApp
from aiopslab.servers.http_api.connections import HEADER_BYTES, LimitedProtocol
from aiopslab.servers.http_api.sessions import Sessions

KEEP_ALIVE_S: Final = 75
LEAVE_S: Final = 5
"""Time that open connections have to end when the server stops."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to ``serve``, which closes records first."""
        yield


async def serve(
    app: HttpApp, sessions: Sessions, bound: socket.socket, stop: asyncio.Event, on_ready: Callable[[], None]
) -> None:
    """Serve on a socket until stopped; then close every session."""
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        log_level="error",
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=LEAVE_S,
    )
    server = _Server(config)
    sweeping = asyncio.create_task(sessions.sweep())
    serving = asyncio.create_task(server.serve([bound]))
    stopping = asyncio.create_task(stop.wait())
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            on_ready()
        await asyncio.wait({serving, stopping, sweeping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sweeping.cancel()
        stopping.cancel()
        await sessions.close()
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await serving

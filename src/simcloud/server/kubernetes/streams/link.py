"""An accepted WebSocket: messages go both ways until one side closes it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from simcloud.server.kubernetes.spdy import SpdyError
from simcloud.server.kubernetes.streams.channels import BadMessage
from simcloud.server.kubernetes.streams.flow import Message, Outbox, SlowClient

log = logging.getLogger("simcloud.server")

Taker = Callable[[Message], Awaitable[None]]


async def relay(socket: WebSocket, outbox: Outbox, take: Taker) -> None:
    """Hand on what comes to ``take`` and send what is in the outbox, until the client goes or all is sent."""
    reading = asyncio.create_task(_read(socket, take))
    writing = asyncio.create_task(outbox.deliver(lambda message: _send(socket, message)))
    try:
        await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (reading, writing):
            task.cancel()
        ended = await asyncio.gather(reading, writing, return_exceptions=True)
    failed = next((each for each in ended if isinstance(each, Exception)), None)
    await _close(socket, failed)


async def _read(socket: WebSocket, take: Taker) -> None:
    while True:
        event = await socket.receive()
        if event["type"] == "websocket.disconnect":
            return
        data, text = event.get("bytes"), event.get("text")
        await take(data if data is not None else text or "")


async def _send(socket: WebSocket, message: Message) -> None:
    if isinstance(message, str):
        await socket.send_text(message)
    else:
        await socket.send_bytes(message)


async def _close(socket: WebSocket, failed: Exception | None) -> None:
    code, why = 1000, ""
    match failed:
        case BadMessage():
            code, why = failed.code, str(failed)
        case SpdyError():
            code, why = 1002, str(failed)
        case SlowClient():
            code, why = 1008, "the client reads too slowly"
        case None | WebSocketDisconnect() | OSError():
            pass
        case _:
            log.error("a stream failed", exc_info=failed)
            code, why = 1011, "the server met an error of its own"
    if (
        socket.client_state is WebSocketState.CONNECTED
        and socket.application_state is WebSocketState.CONNECTED
    ):
        with suppress(WebSocketDisconnect, RuntimeError, OSError):
            await socket.close(code, why[:120])

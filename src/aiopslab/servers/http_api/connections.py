"""Limits on connections that the HTTP library does not have: how many, and how slow they may be."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS: Final = 512
HEADER_BYTES: Final = 16 << 10
HEADER_S: Final = 20.0
"""Time that a client has to send the head of a request."""
STALL_S: Final = 60.0
"""Time that a client may read nothing of what was sent to it."""


class LimitedProtocol(H11Protocol):
    """One connection. A client that is too slow, or one too many, is cut off."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        if len(self.connections) > MAX_CONNECTIONS:
            self._refuse(503, "The server has too many connections. Try again later.")
        else:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_idle and self._head_timer is None:
            self._wait_for_head()
        super().data_received(data)
        if not self._is_idle and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall_timer = self.loop.call_later(STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, f"{msg} A head has at most {HEADER_BYTES} bytes.")

    @property
    def _is_idle(self) -> bool:
        """Whether no request is being served."""
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(HEADER_S, self.transport.abort)

    def _cancel_timers(self) -> None:
        for timer in (self._head_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        events: tuple[Any, ...] = (
            h11.Response(status_code=status, headers=headers),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

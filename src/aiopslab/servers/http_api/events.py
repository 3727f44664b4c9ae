"""The events of a session, kept for those who come later, in the form of server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

KEPT_BYTES: Final = 1 << 20
"""Size of the events that are kept of a session; older ones are dropped."""
PAUSE_S: Final = 15.0
"""Interval of comments on a quiet stream, which show proxies and clients that it is alive."""


class EventLog:
    """Numbered events, which any number of readers follow at their own speed."""

    def __init__(self) -> None:
        self._events: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._last = 0
        self._more = asyncio.Event()
        self._is_complete = False

    def add(self, kind: str, data: Mapping[str, Any], *, is_last: bool = False) -> None:
        """Add an event; readers end after the last one."""
        self._last += 1
        event = f"id: {self._last}\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode()
        self._events.append((self._last, event))
        self._bytes += len(event)
        while self._bytes > KEPT_BYTES and len(self._events) > 1:
            self._bytes -= len(self._events.popleft()[1])
        self._is_complete = is_last
        self._more.set()
        self._more = asyncio.Event()

    async def follow(self, after: int) -> AsyncIterator[bytes]:
        """Yield the events after a number, as they happen."""
        while True:
            for number, event in [kept for kept in self._events if kept[0] > after]:
                yield event
                after = number
            if self._is_complete and after >= self._last:
                return
            if after >= self._last:
                more = self._more
                try:
                    await asyncio.wait_for(more.wait(), PAUSE_S)
                except TimeoutError:
                    yield b": the stream is alive\n\n"

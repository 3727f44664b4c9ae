"""Flow control between a client and the simulated world.

``Session`` and ``Forward`` have no flow control. One that can be paused also implements ``Flow``; with any other, a
client that reads too slowly is disconnected.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from simcloud.kubernetes.api import Flow

HIGH_BYTES: Final = 512 << 10
LOW_BYTES: Final = 128 << 10
LIMIT_BYTES: Final = 32 << 20
"""More than this never waits for one client."""

LOOK_AGAIN_S: Final = 0.01
PROBE_S: Final = 5.0
"""So often a client that is held back is asked whether it is still there."""

Message: TypeAlias = bytes | str


class SlowClient(Exception):
    """The client reads too slowly."""


class Outbox:
    """A queue of messages for a client. ``hold`` is called when it is too long, and again when there is room."""

    def __init__(self, hold: Callable[[bool], None]) -> None:
        self._hold = hold
        self._waiting: deque[Message] = deque()
        self._waiting_bytes = 0
        self._held = self._finished = False
        self._changed = asyncio.Event()

    def put(self, message: Message) -> None:
        """One more message. Beyond all measure, nothing is kept and the client will be let go."""
        if self._waiting_bytes > LIMIT_BYTES:
            return
        self._waiting.append(message)
        self._waiting_bytes += len(message)
        self._changed.set()
        if not self._held and self._waiting_bytes > HIGH_BYTES:
            self._held = True
            self._hold(True)

    def finish(self) -> None:
        """There will be no more."""
        self._finished = True
        self._changed.set()

    async def deliver(self, send: Callable[[Message], Awaitable[None]]) -> None:
        """Send all, in order, until the last."""
        while True:
            if self._waiting_bytes > LIMIT_BYTES:
                raise SlowClient
            if self._waiting:
                message = self._waiting.popleft()
                self._waiting_bytes -= len(message)
                if self._held and self._waiting_bytes < LOW_BYTES:
                    self._held = False
                    self._hold(False)
                await send(message)
            elif self._finished:
                return
            else:
                self._changed.clear()
                await self._changed.wait()


def hold(far: object, held: bool) -> None:
    """Hold something in the world back, if it can be held."""
    if isinstance(far, Flow):
        if held:
            far.pause()
        else:
            far.resume()


async def room(far: object, poke: Callable[[], None], probe: Callable[[], None]) -> None:
    """Wait until something in the world has read enough of what was written to it."""
    if not isinstance(far, Flow):
        return
    waited_s = 0.0
    while far.pending_bytes > HIGH_BYTES:
        poke()
        await asyncio.sleep(LOOK_AGAIN_S)
        waited_s += LOOK_AGAIN_S
        if waited_s > PROBE_S:
            waited_s = 0.0
            probe()

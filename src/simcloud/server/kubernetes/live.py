"""A world that follows the wall clock inside an asyncio loop, in the loop's own thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from simcloud.sim import Kernel, Pacer


class Pace(Protocol):
    """Advances a world to the time of a request."""

    def catch_up(self) -> None:
        """Bring the world to the present."""

    def poke(self) -> None:
        """Something was written."""


class Signal(Protocol):
    """The signal that a stream waits on between its parts."""

    def set(self) -> None:
        """Something came."""

    def clear(self) -> None:
        """It was taken."""

    async def wait(self) -> object:
        """Until something comes."""


class Live:
    """Runs a kernel when its next task is due, and after requests that give it work."""

    def __init__(
        self, kernel: Kernel, speed: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """With a stopped ``clock``, only ``jump`` advances time."""
        self._pacer = Pacer(kernel, speed, clock)
        self._poked = asyncio.Event()
        self.failed: BaseException | None = None

    @property
    def now(self) -> float:
        """The world's own time, in seconds."""
        return self._pacer.kernel.now

    def catch_up(self) -> None:
        """Bring the world to the present, so that a request meets it there."""
        if self.failed is None:
            self._pacer.advance()
        self.poke()

    def jump(self, seconds: float) -> None:
        """Let virtual time pass at once, ahead of the wall clock."""
        self._pacer.kernel.run_for(seconds)
        self._pacer.set_speed(self._pacer.speed)
        self.poke()

    def poke(self) -> None:
        """Something was written: look at once whether the world has something to do."""
        self._poked.set()

    async def run(self) -> None:
        """Step until cancelled. An error inside the world ends the run and is raised here."""
        while True:
            try:
                pause_s = self._pacer.advance()
            except BaseException as error:
                self.failed = error
                raise
            self._poked.clear()
            try:
                async with asyncio.timeout(pause_s):
                    await self._poked.wait()
            except TimeoutError:
                pass
            # What else waits in the loop has its turn even when the world is always busy.
            await asyncio.sleep(0)

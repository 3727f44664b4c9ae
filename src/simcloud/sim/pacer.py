"""Virtual time along the wall clock, for people and genuine clients who watch a live world.

The pacer owns no loop and no thread. A driver (a terminal, an HTTP server's event loop) calls
``advance`` and then sleeps for at most what it returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from simcloud.sim.kernel import Kernel

IDLE_S = 0.25
"""The longest pause ``advance`` asks for: a world with nothing to do still keeps its clock."""


class Pacer:
    """Lets a kernel's time follow a wall clock, ``speed`` times as fast."""

    def __init__(
        self,
        kernel: Kernel,
        speed: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        slice_s: float = 0.05,
    ) -> None:
        self.kernel = kernel
        self._clock = clock
        self._slice_s = slice_s
        self.set_speed(speed)

    @property
    def due(self) -> float:
        """The virtual time that the wall clock stands for at this moment."""
        return self._virtual_start + (self._clock() - self._wall_start) * self.speed

    @property
    def behind_s(self) -> float:
        """How many virtual seconds the world lags behind the clock (overload when it grows)."""
        return max(0.0, self.due - self.kernel.now)

    def advance(self) -> float:
        """Catch up with the clock, for a slice of wall time at most; seconds until the next call.

        Returns 0 when the world is still behind, so that a driver can serve its other callers
        before it goes on.
        """
        give_up_at = self._clock() + self._slice_s
        step = self._slice_s * self.speed / 4
        while True:
            target = self.due
            self.kernel.run_until(min(target, self.kernel.now + step))
            if self.kernel.now >= target:
                break
            if self._clock() >= give_up_at:
                return 0.0
        following = self.kernel.next_event_at()
        if following is None:
            return IDLE_S
        return min(IDLE_S, max(0.0, (following - self.due) / self.speed))

    def set_speed(self, speed: float) -> None:
        """Go on from here at another speed; what the world lags behind is forgiven."""
        if speed <= 0:
            raise ValueError(f"speed must be above 0, not {speed:g}; 1 is real time, 10 is ten times faster")
        self._virtual_start = self.kernel.now
        self._wall_start = self._clock()
        self.speed = speed

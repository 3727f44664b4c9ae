"""CPU time as arithmetic.

Work is not simulated in time slices. Each container remembers until when each of its cores is
busy; new work starts on the core that is free first. A CFS quota is spent in periods of 100 ms; when
it is gone the work stands still until the next period. A machine whose containers together want
more than it has slows all of them down by the same factor, found anew each second.
"""

from __future__ import annotations

from math import ceil, exp
from typing import Final

PERIOD_S: Final = 0.1
LOAD_WINDOWS_S: Final = (60.0, 300.0, 900.0)


class MachineCpu:
    """The cores of a machine: how many, how fast, how loaded."""

    __slots__ = ("_second", "cores", "load", "slowdown", "speed", "used_s", "wanted_s")

    def __init__(self, cores: int, speed: float = 1.0) -> None:
        self.cores = cores
        self.speed = speed
        self.slowdown = 1.0
        self.used_s = 0.0
        self.load = [0.0, 0.0, 0.0]
        self.wanted_s = 0.0
        """Seconds of a core that were asked for since the last whole second."""
        self._second = 0

    def settle(self, now: float) -> None:
        """Close the seconds that have passed: slow-down and load averages."""
        second = int(now)
        passed = second - self._second
        if passed > 0:
            runnable = self.wanted_s / passed
            self.slowdown = max(1.0, runnable / self.cores)
            self.load = [
                runnable + (load - runnable) * exp(-passed / window)
                for load, window in zip(self.load, LOAD_WINDOWS_S, strict=True)
            ]
            self._second = second
            self.wanted_s = 0.0


class ContainerCpu:
    """The CPU account of one container: ``limit`` cores, or all of the machine's."""

    __slots__ = (
        "_busy_until", "_period", "_period_used_s", "limit", "machine", "periods", "throttled_periods",
        "throttled_s", "used_s",
    )  # fmt: skip

    def __init__(self, machine: MachineCpu, limit: float | None = None) -> None:
        self.machine = machine
        self.used_s = 0.0
        self.throttled_s = 0.0
        self.periods = 0
        self.throttled_periods = 0
        self._period = -1
        self._period_used_s = 0.0
        self.set_limit(limit)

    def set_limit(self, limit: float | None) -> None:
        """Give the container another quota, in cores."""
        self.limit = limit
        cores = self.machine.cores if limit is None else min(self.machine.cores, max(1, ceil(limit)))
        self._busy_until = [0.0] * cores

    def charge(self, now: float, seconds: float) -> float:
        """Do so much work (in seconds of a healthy core); the time when it will be done."""
        self.used_s += seconds
        machine = self.machine
        machine.used_s += seconds
        machine.settle(now)
        work = seconds * machine.slowdown / machine.speed
        machine.wanted_s += work
        busy = self._busy_until
        core, start = 0, now
        if busy[0] > now:  # of cores that are free, each is as good as the first
            core = busy.index(min(busy))
            start = max(busy[core], now)
        end = start + work if self.limit is None else self._through_quota(start, work, self.limit)
        busy[core] = end
        return end

    def _through_quota(self, start: float, work: float, limit: float) -> float:
        quota = limit * PERIOD_S
        time, left = start, work
        while True:
            period = int(time / PERIOD_S + 1e-9)
            if period > self._period:
                self.periods += 1
                self._period = period
                self._period_used_s = 0.0
            elif period < self._period:  # another core is ahead: its period is the current one
                period, time = self._period, self._period * PERIOD_S
            end = (period + 1) * PERIOD_S
            run = min(left, quota - self._period_used_s, end - time)
            if run > 0:
                self._period_used_s += run
                left -= run
                time += run
            if left <= 1e-12:
                return time
            if self._period_used_s >= quota - 1e-12:
                self.throttled_periods += 1
                self.throttled_s += end - time
            time = end

"""CPU time as arithmetic.

Work is not simulated in time slices. Each container remembers until when each of its cores is
busy; new work starts on the core that is free first. A CFS quota is spent in periods of 100 ms; when
it is gone the work stands still until the next period. A machine whose containers together want
more than it has slows all of them down by the same factor, found anew each second.
"""

from __future__ import annotations

from math import ceil, exp
from typing import Final
from zlib import crc32

PERIOD_S: Final = 0.1
LOAD_WINDOWS_S: Final = (60.0, 300.0, 900.0)
SAMPLE_S: Final = 5
"""How often the kernel counts runnable tasks for its load averages."""
SAMPLES: Final = 720
"""More than this make no difference."""


class MachineCpu:
    """The cores of a machine: how many, how fast, how loaded."""

    __slots__ = (
        "_looked_at", "_room_s", "_samples", "_second", "accounts", "cores", "load", "noise", "owed_s", "seed", "slowdown",
        "speed", "stolen_s", "used_s", "wanted_s",
    )  # fmt: skip

    def __init__(self, cores: int, speed: float = 1.0) -> None:
        self.cores = cores
        self.speed = speed
        self.slowdown = 1.0
        self.used_s = 0.0
        self.stolen_s = 0.0
        """Time in which cores had work and the hypervisor ran other machines, on a machine slower than 1."""
        self.owed_s = 0.0
        """Work that is not accounted for yet."""
        self.load = [0.0, 0.0, 0.0]
        self.wanted_s = 0.0
        """Seconds of a core that were asked for since the last whole second."""
        self.noise: tuple[float, ...] = ()
        """Factors by which the time of equal work varies; without any, it does not."""
        self.seed = 0
        """Tells the samples of this machine from those of others."""
        self.accounts = 0
        self._second = 0
        self._samples = 0
        self._looked_at = 0.0
        self._room_s = 0.0

    def draw_factor(self) -> float:
        """Return a factor for the time of something else, such as a transfer."""
        self.accounts += 1
        return self.noise[self.accounts * 251 % len(self.noise)] if self.noise else 1.0

    def _work_off(self, now: float) -> None:
        """Account for work, as far as the cores can have done it since the last time or the second before."""
        self._room_s = min(self._room_s, self.cores) + (now - self._looked_at) * self.cores
        self._looked_at = now
        done_s = min(self.owed_s, self._room_s)
        self.used_s += done_s
        self._room_s -= done_s
        self.owed_s -= done_s

    def average_load(self, runnable: float, samples: int) -> None:
        """Add samples of the number of runnable tasks, which varies about its mean, to the load averages."""
        for _ in range(min(samples, SAMPLES)):
            self._samples += 1
            count = self._draw_count(runnable) if self.noise else runnable
            self.load = [
                count + (load - count) * exp(-SAMPLE_S / window)
                for load, window in zip(self.load, LOAD_WINDOWS_S, strict=True)
            ]

    def _draw_count(self, mean: float) -> float:
        """Draw from a Poisson distribution."""
        chance, count = crc32(f"{self.seed}/{self._samples}".encode()) / 2**32, 0
        probability = exp(-mean)
        while chance > probability and count < 4 * mean + 8:
            chance -= probability
            count += 1
            probability *= mean / count
        return count

    def settle(self, now: float) -> None:
        """Close the seconds that have passed: slow-down and load averages."""
        second = int(now)
        passed = second - self._second
        if passed > 0:
            self._work_off(now)
            runnable = self.wanted_s / passed
            self.slowdown = max(1.0, runnable / self.cores)
            self.average_load(runnable, second // SAMPLE_S - self._second // SAMPLE_S)
            self._second = second
            self.wanted_s = 0.0


class ContainerCpu:
    """The CPU account of one container: ``limit`` cores, or all of the machine's."""

    __slots__ = (
        "_busy_until", "_period", "_period_used_s", "_turn", "limit", "machine", "periods", "throttled_periods",
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
        machine.accounts += 1
        self._turn = machine.accounts * 251
        self.set_limit(limit)

    def set_limit(self, limit: float | None) -> None:
        """Give the container another quota, in cores."""
        self.limit = limit
        cores = self.machine.cores if limit is None else min(self.machine.cores, max(1, ceil(limit)))
        self._busy_until = [0.0] * cores

    def charge(self, now: float, seconds: float) -> float:
        """Do so much work (in seconds of a healthy core); the time when it will be done."""
        machine = self.machine
        if noise := machine.noise:
            self._turn = turn = self._turn + 1
            seconds *= noise[turn % len(noise)]
        self.used_s += seconds
        machine.owed_s += seconds
        machine.settle(now)
        work = seconds * machine.slowdown / machine.speed
        if machine.speed < 1:
            machine.stolen_s += seconds / machine.speed - seconds
        machine.wanted_s += work
        busy = self._busy_until
        core, start = 0, now
        if busy[0] > now:  # of cores that are free, each is as good as the first
            core = busy.index(min(busy))
            start = max(busy[core], now)
        end = start + work if self.limit is None else self._through_quota(start, work, self.limit)
        busy[core] = end
        return end

    def book(self, seconds: float) -> None:
        """Account for work that nobody waits for."""
        self.used_s += seconds
        self.machine.owed_s += seconds
        self.machine.wanted_s += seconds

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

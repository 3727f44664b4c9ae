"""Limits as counts, so that they strike at the same place every time.

A budget belongs to one piece of work (a line an operator typed, a container's main process) and is
shared by all the processes it starts. It refills with virtual time: a daemon that works a little
and sleeps lives for ever, a loop that never sleeps runs dry.
"""

from __future__ import annotations

from msgspec import Struct

from simcloud.machine.process.errors import LimitExceeded

MIB = 1024 * 1024


class Limits(Struct, frozen=True):
    """What a container and the work inside it may use."""

    processes: int = 512
    open_files: int = 1024
    turns: int = 200_000
    turns_per_s: int = 2_000
    data_bytes: int = 64 * MIB
    data_bytes_per_s: int = MIB


class Budget:
    """Turns of loops and bytes of data that a piece of work may still spend."""

    __slots__ = ("_bytes", "_limits", "_refilled_at", "_turns")

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._turns: float = limits.turns
        self._bytes: float = limits.data_bytes
        self._refilled_at = now

    def spend_turns(self, count: int, now: float) -> None:
        """Pay for commands and loop turns."""
        self._turns -= count
        if self._turns < 0:
            self._refill(now)
            if self._turns < 0:
                raise LimitExceeded(f"limit exceeded: more than {self._limits.turns} steps without a pause")

    def spend_bytes(self, count: int, now: float) -> None:
        """Pay for data produced or held."""
        self._bytes -= count
        if self._bytes < 0:
            self._refill(now)
            if self._bytes < 0:
                size = self._limits.data_bytes // MIB
                raise LimitExceeded(f"limit exceeded: more than {size} MiB of data without a pause")

    def _refill(self, now: float) -> None:
        passed = now - self._refilled_at
        self._refilled_at = now
        self._turns = min(self._limits.turns, self._turns + passed * self._limits.turns_per_s)
        self._bytes = min(self._limits.data_bytes, self._bytes + passed * self._limits.data_bytes_per_s)

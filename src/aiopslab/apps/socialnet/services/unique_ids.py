"""Unique ids: three hexadecimal digits for the machine, ten for the time, three for a counter."""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Context

FIRST_MS: Final = 1_514_764_800_000
"""The start of 2018, which is the epoch of the ids."""


class UniqueIds:
    """Generates ids."""

    def __init__(self, ctx: Context, machine_id: str) -> None:
        self._ctx = ctx
        self._machine = int(machine_id, 16)
        self._last_ms = -1
        self._count = 0

    def next(self) -> int:
        """Return the next id."""
        now_ms = int(self._ctx.now * 1000) - FIRST_MS
        self._count = self._count + 1 if now_ms == self._last_ms else 0
        self._last_ms = now_ms
        return make_id(self._machine, now_ms, self._count)


def make_id(machine: int, since_2018_ms: int, count: int) -> int:
    """Combine the parts into an id."""
    parts = machine << 52 | (since_2018_ms & 0xFF_FFFF_FFFF) << 12 | (count & 0xFFF)
    return parts & 0x7FFF_FFFF_FFFF_FFFF

"""Lines that a healthy program logs from time to time: warnings that need no action.

The times and the values come from one random stream per program, so they shift no other draw. Skipped time has such lines, too.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from simcloud.machine.logs import ContainerLog
from simcloud.machine.process import Context

MOST_PAST: Final = 60
"""Maximum number of lines in one stretch of skipped time."""

HOUR_S: Final = 3600.0

FormatLines = Callable[[float, Random], str]
"""Returns what is logged at a Unix time: a line, several, or none."""


class PastWarnings:
    """Lines of skipped time, with their times."""

    def __init__(self, lines: list[tuple[float, str]]) -> None:
        self.count = len(lines)
        self._lines = lines

    def measure(self, first: int, end: int) -> int:
        """Return the bytes of all texts with these numbers."""
        return sum(len(text.encode()) for _, text in self._lines[first:end])

    def read(self, number: int) -> tuple[float, str]:
        """Return the time and the text of a line."""
        return self._lines[number]


def log_occasionally(
    ctx: Context, mean_s: float, format_lines: FormatLines, stream: str = "stdout", *, in_past: bool = True
) -> None:
    """Log something at random times, ``mean_s`` apart on average; with ``in_past`` also in time that is skipped."""
    random, log = ctx.random("occasional lines"), ctx.container.log
    if not isinstance(log, ContainerLog):
        return

    async def write() -> None:
        while True:
            await ctx.sleep(random.expovariate(1 / mean_s))
            for text in format_lines(ctx.now, random).splitlines():
                log.line(text, stream)

    def add_past(seconds: float) -> None:
        lines: list[tuple[float, str]] = []
        time_s = ctx.now - seconds
        while len(lines) < MOST_PAST:
            time_s += random.expovariate(1 / max(mean_s, seconds / MOST_PAST))
            if time_s >= ctx.now:
                break
            lines += [(time_s, text) for text in format_lines(time_s, random).splitlines()]
        log.add_past(PastWarnings(lines), stream)

    ctx.spawn(write(), "occasional lines")
    if in_past:
        ctx.process.on_skip.append(add_past)

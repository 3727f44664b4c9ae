"""The log lines of C++ services that use Boost.Log and Thrift, on stderr.

``[2026-Sep-15 13:09:01.009916] <info>: (UserService.cpp:110:main) text`` is Boost's;
``Thrift: Tue Sep 15 13:09:34 2026 text`` is what the Thrift library prints by itself.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from simcloud.machine.process import Context
from simcloud.services.languages.output import print_line

LINE_US: Final = 11


class BoostLog:
    """Boost's trivial log, configured as in these services."""

    __slots__ = ("_ctx", "_latest_us")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._latest_us = 0

    def info(self, text: str, place: str) -> None:
        """A line of severity info; ``place`` is ``UserService.cpp:110:main``."""
        self._line("info", text, place)

    def warning(self, text: str, place: str) -> None:
        """A line of severity warning."""
        self._line("warning", text, place)

    def error(self, text: str, place: str) -> None:
        """A line of severity error."""
        self._line("error", text, place)

    def fatal(self, text: str, place: str) -> None:
        """A line of severity fatal; unlike Go's, it ends nothing."""
        self._line("fatal", text, place)

    def _line(self, severity: str, text: str, place: str) -> None:
        # Lines of one instant are written one after the other, faster than a container's runtime reads them.
        self._latest_us = max(int(self._ctx.now * 1e6), self._latest_us + LINE_US)
        print_line(self._ctx, format_boost(self._latest_us, severity, text, place), 2)


def format_boost(time_us: int, severity: str, text: str, place: str) -> str:
    """Return a line of Boost's log."""
    second, fraction_us = divmod(time_us, 1_000_000)
    stamp = datetime.fromtimestamp(second, UTC).strftime("%Y-%b-%d %H:%M:%S")
    return f"[{stamp}.{fraction_us:06d}] <{severity}>: ({place}) {text}"


def thrift_line(ctx: Context, text: str) -> None:
    """Print a line as the Thrift library does."""
    print_line(ctx, format_thrift(ctx.now, text), 2)


def format_thrift(time_s: float, text: str) -> str:
    """Return a line of the Thrift library."""
    stamp = datetime.fromtimestamp(int(time_s), UTC).strftime("%a %b %e %H:%M:%S %Y")
    return f"Thrift: {stamp} {text}"

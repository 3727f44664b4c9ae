"""Consul's log: hclog lines on stdout, kept for ``consul monitor``."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import Final

from simcloud.machine.process import Context
from simcloud.services.languages import print_line

KEPT_LINES: Final = 512
LEVELS: Final = {"trace": 0, "debug": 1, "info": 2, "warn": 3, "error": 4}
SHOWN: Final = {
    "trace": "[TRACE]",
    "debug": "[DEBUG]",
    "info": "[INFO] ",
    "warn": "[WARN] ",
    "error": "[ERROR]",
}


class ConsulLog:
    """Writes the lines whose level is at least ``level``."""

    def __init__(self, ctx: Context, level: str = "debug") -> None:
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._ctx = ctx
        self._level = LEVELS.get(level, LEVELS["info"])

    def debug(self, name: str, text: str) -> None:
        """Write a line of level DEBUG."""
        self._line("debug", name, text)

    def info(self, name: str, text: str) -> None:
        """Write a line of level INFO."""
        self._line("info", name, text)

    def warn(self, name: str, text: str) -> None:
        """Write a line of level WARN."""
        self._line("warn", name, text)

    def error(self, name: str, text: str) -> None:
        """Write a line of level ERROR."""
        self._line("error", name, text)

    def _line(self, level: str, name: str, text: str) -> None:
        if LEVELS[level] < self._level:
            return
        now = self._ctx.now
        stamp = datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%S")
        line = f"{stamp}.{int(now * 1000) % 1000:03}Z {SHOWN[level]} {name}: {text}"
        self.lines.append(line)
        print_line(self._ctx, line)

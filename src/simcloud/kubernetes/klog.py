"""Lines in the format of klog, the log library of Kubernetes' own programs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from simcloud.golang import quote
from simcloud.sim import Kernel


class Raw(str):
    """A value that is printed as it is."""


class Klog:
    """The times of one program's lines: each a little after what the line is about."""

    def __init__(self, kernel: Kernel, stream: str) -> None:
        self._random = kernel.random(stream)
        self._delay_s = self._random.uniform(0.003, 0.09)
        self._last_s = 0.0

    def next_time(self, now_s: float) -> float:
        """Return the time of a line that is written now."""
        self._last_s = max(now_s + self._delay_s, self._last_s) + self._random.uniform(0.000_02, 0.000_9)
        return self._last_s

    def pass_time(self, seconds: float) -> None:
        """Let the next line come so much later, or a little more."""
        self._last_s += seconds * self._random.uniform(1.0, 1.3)


def format_klog(level: str, time_s: float, pid: int, source: str, text: str) -> str:
    """Return ``E1115 08:44:40.094264   15446 memcache.go:265] …`` without a line feed.

    ``level`` is I, W, E or F, ``source`` the position in the program's source.
    """
    moment = datetime.fromtimestamp(time_s, UTC)
    return f"{level}{moment:%m%d %H:%M:%S.%f} {pid:7d} {source}] {text}"


def format_message(message: str, values: dict[str, Any]) -> str:
    """Return the text of a structured line."""
    return quote(message) + "".join(f" {key}={_format_value(value)}" for key, value in values.items())


def _format_value(value: Any) -> str:
    if isinstance(value, str) and not isinstance(value, Raw):
        return quote(value)
    return f"[{','.join(map(_format_value, value))}]" if isinstance(value, list) else str(value)

"""The progress meter of curl: a heading, a line at the beginning and one at the end."""

from __future__ import annotations

from typing import Final

HEADING: Final = (
    "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    "                                 Dload  Upload   Total   Spent    Left  Speed\n"
)
NO_TIME: Final = "--:--:--"
HOUR_S: Final = 3600


def meter_line(expected: int, received: int, sent: int, elapsed_s: float) -> str:
    """How much of how much, how fast, in how long."""
    share = 100 * received // expected if expected else 0
    spent = int(elapsed_s)
    clock = f"{spent // HOUR_S:2d}:{spent // 60 % 60:02d}:{spent % 60:02d}" if spent else NO_TIME
    down = int(received / elapsed_s) if elapsed_s > 0 else 0
    up = int(sent / elapsed_s) if elapsed_s > 0 else 0
    return (
        f"\r{share:3d} {_short(expected)}  {share:3d} {_short(received)}  {100 if sent else 0:3d} {_short(sent)}  "
        f"{_short(down)}  {_short(up)} {NO_TIME} {clock} {NO_TIME} {_short(down)}"
    )


def _short(size: int) -> str:
    """A size in five places."""
    if size < 100_000:
        return f"{size:5d}"
    for unit in "kMGTP":
        if size < 10_000 * 1024:
            return f"{size // 1024:4d}{unit}"
        size //= 1024
    return f"{size:4d}P"

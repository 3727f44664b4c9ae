"""Tables, sizes and ages as the tools of container runtimes print them."""

from __future__ import annotations

from collections.abc import Sequence

from simcloud.golang import TabWriter


def align_cells(rows: Sequence[Sequence[str]], least: int, padding: int) -> str:
    """Align the columns; the last cell of a row is left as it is."""
    writer = TabWriter(padding, least)
    writer.write("".join("\t".join(row) + "\n" for row in rows))
    return writer.flush()


def format_size(size_bytes: float, digits: int = 4) -> str:
    """A size in units of 1000, with a number of significant digits."""
    unit = 0
    while size_bytes >= 1000 and unit < 4:
        size_bytes, unit = size_bytes / 1000, unit + 1
    return f"{size_bytes:.{digits}g}{('B', 'kB', 'MB', 'GB', 'TB')[unit]}"


def format_age(seconds: float) -> str:
    """How long ago something was, in words."""
    whole, minutes, hours = int(seconds), int(seconds / 60), int(seconds / 3600 + 0.5)
    if whole < 1:
        return "Less than a second"
    if whole < 60:
        return f"{whole} second{'s' if whole > 1 else ''}"
    if minutes < 60:
        return "About a minute" if minutes == 1 else f"{minutes} minutes"
    if hours < 48:
        return "About an hour" if hours == 1 else f"{hours} hours"
    for unit, size, most in (("days", 24, 24 * 14), ("weeks", 168, 24 * 60), ("months", 720, 24 * 730)):
        if hours < most:
            return f"{hours // size} {unit}"
    return f"{hours // 8760} years"

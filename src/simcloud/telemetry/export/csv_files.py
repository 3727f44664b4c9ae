"""Tables as CSV (RFC 4180, but with ``\\n`` at the ends of lines). The same rows are always the same bytes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from simcloud.telemetry.export.tables import Table, Value

_SPECIAL: Final = re.compile(r'[",\r\n]')
_QUOTED: Final = re.compile(r'["\r\n]')


def csv_lines(table: Table) -> Iterator[str]:
    """Yield a line of names, then the rows."""
    yield ",".join(_text(column.name) for column in table.columns) + "\n"
    commas = len(table.columns) - 1
    for row in table.rows():
        line = ",".join(value if type(value) is str else _format_value(value) for value in row)
        # One look at the whole line: hardly any has something to quote, and there may be a million of them.
        if line.count(",") != commas or _QUOTED.search(line):
            line = ",".join(_format_value(value) for value in row)
        yield line + "\n"


def write_csv(table: Table, path: Path) -> int:
    """Write a file; how many rows it has."""
    lines = 0
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        for line in csv_lines(table):
            file.write(line)
            lines += 1
    return lines - 1


def _format_value(value: Value) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else repr(value)
    return str(value)


def _text(text: str) -> str:
    if _SPECIAL.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text

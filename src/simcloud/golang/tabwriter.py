"""Text in columns, aligned like the tabwriter of kubectl's printers.

A cell ends with a tab; the text after the last tab of a line belongs to no column. A column is as wide as its widest
cell in consecutive lines, and never narrower than further up.
"""

from __future__ import annotations

_NARROWEST = 6
_PADDING = 3


class TabWriter:
    """Buffers text and aligns its columns on flush; widths are kept between flushes."""

    def __init__(self, padding: int = _PADDING, narrowest: int = _NARROWEST) -> None:
        self._padding = padding
        self._narrowest = narrowest
        self._text: list[str] = []
        self._widths: list[int] = []

    def write(self, text: str) -> None:
        """Add text: cells between tabs, lines between line feeds."""
        self._text.append(text)

    def flush(self) -> str:
        """Return the added text in columns."""
        text = "".join(self._text)
        self._text.clear()
        if not text:
            return ""
        lines = [line.replace("\v", "\t").split("\t") for line in text.replace("\f", "\n").split("\n")]
        most = max(map(len, lines)) - 1
        for column in range(most):
            self._align(lines, column)
        return "\n".join(map("".join, lines))

    def forget(self) -> None:
        """Let the widths begin anew."""
        self._widths.clear()

    def _align(self, lines: list[list[str]], column: int) -> None:
        start = 0
        while start < len(lines):
            if len(lines[start]) - 1 <= column:
                start += 1
                continue
            end = start
            while end < len(lines) and len(lines[end]) - 1 > column:
                end += 1
            width = self._width(lines[start:end], column)
            for line in lines[start:end]:
                line[column] = line[column].ljust(width)
            start = end

    def _width(self, block: list[list[str]], column: int) -> int:
        if column == len(self._widths):
            self._widths.append(self._narrowest)
        widest = max(len(line[column]) for line in block)
        self._widths[column] = max(self._widths[column], widest + self._padding)
        return self._widths[column]

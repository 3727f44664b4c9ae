"""``diff -y``: both files side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simcloud.userland.commands.text.diffs.script import Change

_TAB = 8
_GUTTER = 3


@dataclass
class SideBySide:
    """Two columns in so many characters, and what is left out of them."""

    width: int
    expand_tabs: bool = False
    left_column: bool = False
    suppress_common: bool = False

    def __post_init__(self) -> None:
        unit = 1 if self.expand_tabs else _TAB
        room = unit + _GUTTER
        offset = (self.width >> 1) + (room >> 1) + (self.width & room & 1)
        offset -= offset % unit
        self._half = max(0, min(offset - _GUTTER, self.width - offset))
        self._second = offset if self._half else self.width

    def show(self, one: list[bytes], two: list[bytes], changes: list[Change]) -> Iterator[bytes]:
        """All lines of both files, or those that differ."""
        at0 = at1 = 0
        for change in [change for change in changes if not change.ignorable]:
            yield from self._common(one[at0 : change.line0], two[at1 : change.line1])
            at0, at1 = change.line0 + change.deleted, change.line1 + change.inserted
            left, right = one[change.line0 : at0], two[change.line1 : at1]
            both = min(len(left), len(right))
            for pair in zip(left[:both], right[:both], strict=True):
                yield self._row(pair[0], b"|", pair[1])
            for line in right[both:]:
                yield self._row(None, b">", line)
            for line in left[both:]:
                yield self._row(line, b"<", None)
        yield from self._common(one[at0:], two[at1:])

    def _common(self, one: list[bytes], two: list[bytes]) -> Iterator[bytes]:
        if self.suppress_common:
            return
        both = 0 if self.left_column else min(len(one), len(two))
        for pair in zip(one[:both], two[:both], strict=True):
            yield self._row(pair[0], b" ", pair[1])
        if not self.left_column:
            for line in two[both:]:
                yield self._row(None, b")", line)
        for line in one[both:]:
            yield self._row(line, b"(", None)

    def _row(self, left: bytes | None, mark: bytes, right: bytes | None) -> bytes:
        shown, column = b"", 0
        newline = False
        if left is not None:
            newline = left.endswith(b"\n")
            shown, column = self._half_line(left, 0)
        if mark != b" ":
            middle = (self._half + self._second - 1) // 2
            shown += self._blank(column, middle)
            column = middle + 1
            if mark == b"|" and right is not None and newline != right.endswith(b"\n"):
                mark = b"/" if newline else b"\\"
            shown += mark
        if right is not None:
            newline |= right.endswith(b"\n")
            if right != b"\n":
                text, _ = self._half_line(right, self._second)
                shown += self._blank(column, self._second) + text
        return shown + (b"\n" if newline else b"")

    def _blank(self, column: int, target: int) -> bytes:
        shown = b""
        if not self.expand_tabs:
            while column + _TAB - column % _TAB <= target:
                shown += b"\t"
                column += _TAB - column % _TAB
        return shown + b" " * (target - column)

    def _half_line(self, line: bytes, indent: int) -> tuple[bytes, int]:
        """A line cut to half the width; the line and the column it reaches."""
        out = bytearray()
        wanted = reached = 0
        for byte in line.removesuffix(b"\n"):
            if byte == 0x09:
                spaces = _TAB - wanted % _TAB
                if wanted == reached:
                    stop = reached + spaces
                    if self.expand_tabs:
                        stop = min(stop, self._half)
                        out += b" " * (stop - reached)
                        reached = stop
                    elif stop < self._half:
                        out.append(byte)
                        reached = stop
                wanted += spaces
            elif byte == 0x0D:
                out.append(byte)
                wanted = reached = 0
                if indent:
                    out += self._blank(0, indent)
            elif byte == 0x08:
                if wanted and (wanted := wanted - 1) < self._half:
                    if reached <= wanted:
                        out += b" " * (wanted - reached)
                        reached = wanted
                    else:
                        reached = wanted
                        out.append(byte)
            elif byte in b"\f\v" or byte < 0x20 or byte >= 0x7F:
                if wanted < self._half:
                    out.append(byte)
            else:
                if wanted < self._half:
                    reached = wanted + 1
                    out.append(byte)
                wanted += 1
        return bytes(out), reached

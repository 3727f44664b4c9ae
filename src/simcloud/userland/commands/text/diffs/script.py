"""Computes the list of changes between two files."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct, field

from simcloud.userland.commands.text.diffs.boundaries import runs
from simcloud.userland.commands.text.diffs.match import Pay, mark_changes

NO_NEWLINE = b"\\ No newline at end of file\n"
_SPACES = b" \t\n\v\f\r"
_TAB_WIDTH = 8


class Change(NamedTuple):
    """Lines ``deleted`` of the first file from ``line0`` on become lines ``inserted`` of the second."""

    line0: int
    line1: int
    deleted: int
    inserted: int
    ignorable: bool = False


class Likeness(Struct):
    """Defines which lines are equal and which changes are ignored."""

    ignore_case: bool = False
    spaces: str = ""
    strip_cr: bool = False
    blank_lines: bool = False
    unimportant: list[Callable[[bytes], bool]] = field(default_factory=list)

    def key(self, line: bytes) -> bytes:
        """Return the comparable form of a line. ``spaces`` is the treatment of white space, by option letters."""
        if "w" in self.spaces:
            line = line.translate(None, _SPACES)
        elif "b" in self.spaces:
            line = _squeeze_blanks(line.translate(_AS_BLANKS))
        else:
            if "E" in self.spaces:
                line = line.expandtabs(_TAB_WIDTH)
            if "Z" in self.spaces:
                line = line.rstrip(_SPACES)
        return line.lower() if self.ignore_case else line

    @property
    def forgives_newline(self) -> bool:
        """Whether a last line without its newline equals one with it."""
        return any(letter in self.spaces for letter in "wbZ")

    def forgives(self, lines: list[bytes]) -> bool:
        """Whether a change of just these lines does not count."""
        return all(self._unimportant(line) for line in lines)

    def _unimportant(self, line: bytes) -> bool:
        text = line.removesuffix(b"\n")
        if self.blank_lines:
            bare = text.strip(_SPACES) if self.forgives_newline else text
            if not bare:
                return True
        return any(unimportant(text) for unimportant in self.unimportant)


_AS_BLANKS = bytes.maketrans(b"\t\n\v\f\r", b"     ")


def _squeeze_blanks(line: bytes) -> bytes:
    """Runs of blanks as one, none at the end."""
    words = line.split(b" ")
    lead = b" " if words and not words[0] else b""
    return lead + b" ".join([word for word in words if word])


def split_lines(data: bytes) -> list[bytes]:
    """Lines with their newlines; the last may lack one."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def find_changes(
    one: list[bytes], two: list[bytes], likeness: Likeness, horizon: int, minimal: bool, pay: Pay
) -> list[Change]:
    """The changes that turn one file into the other.

    ``horizon`` is the number of lines of a common beginning and end that take part in the search; in GNU diff it
    is the number of context lines.
    """
    prefix = _common_prefix(one, two)
    prefix = max(0, prefix - horizon)
    suffix = _common_suffix(one[prefix:], two[prefix:])
    suffix = max(0, suffix - horizon)
    classes: dict[bytes, int] = {}
    numbered: list[list[int]] = []
    for lines in (one, two):
        middle = lines[prefix : len(lines) - suffix]
        pay(len(middle) // 100)
        numbered.append([classes.setdefault(_comparable(line, likeness), len(classes)) for line in middle])
    marks = mark_changes(numbered[0], numbered[1], minimal, pay)
    changes = [Change(i + prefix, j + prefix, deleted, inserted) for i, j, deleted, inserted in runs(*marks)]
    if likeness.blank_lines or likeness.unimportant:
        changes = [
            change._replace(
                ignorable=likeness.forgives(
                    one[change.line0 : change.line0 + change.deleted]
                    + two[change.line1 : change.line1 + change.inserted]
                )
            )
            for change in changes
        ]
    return changes


def _comparable(line: bytes, likeness: Likeness) -> bytes:
    text = line.removesuffix(b"\n")
    key = likeness.key(text)
    unfinished = len(text) == len(line) and not likeness.forgives_newline
    return key + b"\n" if not unfinished else key


def _common_prefix(one: list[bytes], two: list[bytes]) -> int:
    count = 0
    for left, right in zip(one, two, strict=False):
        if left != right:
            break
        count += 1
    return count


def _common_suffix(one: list[bytes], two: list[bytes]) -> int:
    return _common_prefix(one[::-1], two[::-1])

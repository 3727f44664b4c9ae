"""The output formats of changes: normal, unified and context."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from simcloud.userland.commands.text.diffs.script import NO_NEWLINE, Change


class Pair(Struct):
    """The lines of two files, and their preparation for output."""

    one: list[bytes]
    two: list[bytes]
    expand_tabs: bool = False
    tab_after_mark: bool = False

    def mark_lines(self, mark: bytes, lines: list[bytes]) -> Iterator[bytes]:
        """Lines behind a mark, with a note after one that lacks its newline."""
        if self.tab_after_mark:
            mark = mark.removesuffix(b" ") + b"\t"
        for line in lines:
            yield mark + (line.expandtabs(8) if self.expand_tabs else line)
            if not line.endswith(b"\n"):
                yield b"\n" + NO_NEWLINE


def format_normal(pair: Pair, changes: list[Change]) -> Iterator[bytes]:
    """``2,3c2`` and the lines on both sides."""
    for change in changes:
        if change.ignorable:
            continue
        letter = b"c" if change.deleted and change.inserted else b"d" if change.deleted else b"a"
        yield _range(change.line0, change.deleted) + letter + _range(change.line1, change.inserted) + b"\n"
        yield from pair.mark_lines(b"< ", pair.one[change.line0 : change.line0 + change.deleted])
        if letter == b"c":
            yield b"---\n"
        yield from pair.mark_lines(b"> ", pair.two[change.line1 : change.line1 + change.inserted])


def _range(start: int, count: int) -> bytes:
    """Line numbers from 1; for no lines, the one before."""
    if count <= 1:
        return b"%d" % (start + count)
    return b"%d,%d" % (start + 1, start + count)


def hunks(changes: list[Change], context: int) -> Iterator[list[Change]]:
    """Changes that share context, together. A hunk in which none counts is left out."""
    group: list[Change] = []
    for change in changes:
        if group:
            previous = group[-1]
            close = context if change.ignorable else 2 * context + 1
            if change.line0 - (previous.line0 + previous.deleted) >= close:
                if not all(member.ignorable for member in group):
                    yield group
                group = []
        group.append(change)
    if group and not all(member.ignorable for member in group):
        yield group


class _Window(Struct):
    """The lines of both files in a hunk; the ends are exclusive."""

    first0: int
    last0: int
    first1: int
    last1: int


def _window(pair: Pair, hunk: list[Change], context: int) -> _Window:
    first, last = hunk[0], hunk[-1]
    return _Window(
        max(0, first.line0 - context),
        min(len(pair.one), last.line0 + last.deleted + context),
        max(0, first.line1 - context),
        min(len(pair.two), last.line1 + last.inserted + context),
    )


def format_unified(
    pair: Pair, changes: list[Change], context: int, heading: Callable[[int], bytes]
) -> Iterator[bytes]:
    """Hunks of common, deleted and inserted lines in one column."""
    for hunk in hunks(changes, context):
        window = _window(pair, hunk, context)
        old = _format_range(window.first0, window.last0)
        new = _format_range(window.first1, window.last1)
        yield b"@@ -" + old + b" +" + new + b" @@" + heading(window.first0) + b"\n"
        at = window.first0
        for change in hunk:
            yield from pair.mark_lines(b" ", pair.one[at : change.line0])
            yield from pair.mark_lines(b"-", pair.one[change.line0 : change.line0 + change.deleted])
            yield from pair.mark_lines(b"+", pair.two[change.line1 : change.line1 + change.inserted])
            at = change.line0 + change.deleted
        yield from pair.mark_lines(b" ", pair.one[at : window.last0])


def _format_range(first: int, last: int) -> bytes:
    if last == first:
        return b"%d,0" % first
    return b"%d" % last if last == first + 1 else b"%d,%d" % (first + 1, last - first)


def format_context(
    pair: Pair, changes: list[Change], context: int, heading: Callable[[int], bytes]
) -> Iterator[bytes]:
    """Hunks that show first one file's lines, then the other's."""
    for hunk in hunks(changes, context):
        window = _window(pair, hunk, context)
        yield b"***************" + heading(window.first0) + b"\n"
        yield b"*** " + _context_range(window.first0, window.last0) + b" ****\n"
        if any(change.deleted for change in hunk):
            at = window.first0
            for change in hunk:
                yield from pair.mark_lines(b"  ", pair.one[at : change.line0])
                at = change.line0 + change.deleted
                yield from pair.mark_lines(b"! " if change.inserted else b"- ", pair.one[change.line0 : at])
            yield from pair.mark_lines(b"  ", pair.one[at : window.last0])
        yield b"--- " + _context_range(window.first1, window.last1) + b" ----\n"
        if any(change.inserted for change in hunk):
            at = window.first1
            for change in hunk:
                yield from pair.mark_lines(b"  ", pair.two[at : change.line1])
                at = change.line1 + change.inserted
                yield from pair.mark_lines(b"! " if change.deleted else b"+ ", pair.two[change.line1 : at])
            yield from pair.mark_lines(b"  ", pair.two[at : window.last1])


def _context_range(first: int, last: int) -> bytes:
    return b"%d" % last if last <= first + 1 else b"%d,%d" % (first + 1, last)


def function_heading(one: list[bytes]) -> Callable[[int], bytes]:
    """The last line before a hunk that begins like a function, for ``-p``."""

    def heading(first: int) -> bytes:
        for line in reversed(one[:first]):
            if line[:1].isalpha() or line[:1] in (b"$", b"_"):
                return b" " + line.strip(b" \t\n")[:40].rstrip(b" \t")
        return b""

    return heading

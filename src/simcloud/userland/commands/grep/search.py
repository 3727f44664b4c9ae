"""Searches the files one after the other and prints the selected lines.

Output is collected while a piece of input is searched and written before waiting for the next piece. Binary input is
treated as in GNU grep: a piece with a NUL byte silences the rest of the file, a line that is no valid text is left
out, and one message reports it.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from msgspec import Struct

from simcloud.machine.files import FileError
from simcloud.machine.process import BadDescriptor, Context, FileStream, Stream
from simcloud.patterns import Match, Regex, Search, TooMuchWorkError, meter_search
from simcloud.userland.commands.grep.printer import Printer
from simcloud.userland.commands.grep.settings import TROUBLE, Settings
from simcloud.userland.commands.options import UsageError
from simcloud.userland.commands.records import RecordCutter, read_chunk

# The bytes of a line are paid for; lines with hardly any still take their time.
LINES_A_TURN = 16


class Outcome(NamedTuple):
    """The number of selected lines, and the error that ended reading, if any."""

    selected: int
    error: FileError | BadDescriptor | None


class _Line(NamedTuple):
    number: int
    offset: int
    text: bytes


class _File(Struct):
    """The state of searching one file."""

    name: str
    printer: Printer
    before: deque[_Line]
    number: int = 0
    offset: int = 0
    selected: int = 0
    selected_end: int = 0
    context_left: int = 0
    last_shown: int = 0
    selected_before_nul: int = -1
    unprintable: bool = False
    done: bool = False

    @property
    def binary(self) -> bool:
        return self.selected_before_nul >= 0


class Searcher:
    """Searches files with one set of patterns (None never matches)."""

    def __init__(self, ctx: Context, program: str, settings: Settings, regex: Regex | None) -> None:
        self._ctx = ctx
        self._program = program
        self._settings = settings
        self._find: Search = _never if regex is None else meter_search(regex, ctx.spend_turn)
        self._group_shown = False

    async def search(self, stream: Stream, name: str, named: bool) -> Outcome:
        """Search one file and print what is to be printed about it."""
        settings = self._settings
        printer = Printer(settings, name if named else None, _width(stream))
        file = _File(name, printer, deque(maxlen=settings.before or 0))
        begin = stream.file.tell() if isinstance(stream, FileStream) else 0
        error: FileError | BadDescriptor | None = None
        try:
            await self._read(stream, file)
        except (FileError, BadDescriptor) as failure:
            error = failure
        except TooMuchWorkError:
            await self._flush(file)
            raise self._too_much(name) from None
        stopped = file.selected == settings.max_count
        if stopped and isinstance(stream, FileStream) and stream.file.kind == "file":
            stream.file.seek(begin + file.selected_end)
        await self._conclude(file)
        return Outcome(file.selected, error)

    async def unreadable(self, name: str, named: bool) -> None:
        """Say what there is to say about something that cannot be read: no line was selected."""
        printer = Printer(self._settings, name if named else None, 0)
        await self._conclude(_File(name, printer, deque()))

    async def _read(self, stream: Stream, file: _File) -> None:
        end = self._settings.end
        cutter = RecordCutter(end)
        if self._settings.max_count == 0:
            await read_chunk(self._ctx, stream)
            return
        while not file.done and (data := await read_chunk(self._ctx, stream)):
            if end == b"\n" and self._settings.binary != "text":
                if not file.binary and b"\0" in data:
                    file.selected_before_nul = file.selected
                    if self._settings.binary == "without-match":
                        file.selected = 0
                        return
                if file.binary:
                    data = data.replace(b"\0", b"\n")
            records = cutter.cut(data)
            self._ctx.spend_turn(len(records) // LINES_A_TURN)
            for record in records:
                self._record(file, record)
                if file.done:
                    break
                if file.printer.full:
                    await self._flush(file)
            await self._flush(file)
        last = cutter.last()
        if last is not None and not file.done:
            self._record(file, last)

    def _record(self, file: _File, text: bytes) -> None:
        settings = self._settings
        file.number += 1
        line = _Line(file.number, file.offset, text)
        file.offset += len(text) + 1
        if file.selected == settings.max_count:
            self._context(file, line)
            file.done = not file.context_left
        elif (self._find(text, 0) is not None) != settings.invert:
            file.selected += 1
            file.selected_end = file.offset
            if settings.shows_lines and not file.binary:
                self._show_group(file, line)
            self._group_shown = True
            once = settings.quiet or settings.listing or (file.binary and not settings.count)
            file.done = bool(once) or (file.selected == settings.max_count and not file.context_left)
        elif file.context_left:
            self._context(file, line)
        else:
            file.before.append(line)

    def _show_group(self, file: _File, line: _Line) -> None:
        settings = self._settings
        first = file.before[0] if file.before else line
        adjoining = file.last_shown and first.number == file.last_shown + 1
        has_context = settings.before is not None or settings.after is not None
        if has_context and self._group_shown and not adjoining:
            file.printer.separator()
        for before in list(file.before):
            self._show(file, before, selected=False)
        file.context_left = settings.after or 0
        self._show(file, line, selected=True)

    def _context(self, file: _File, line: _Line) -> None:
        file.context_left -= 1
        if not file.binary:
            self._show(file, line, selected=False)

    def _show(self, file: _File, line: _Line, *, selected: bool) -> None:
        """Print a line, or with ``-o`` its matching parts."""
        settings = self._settings
        matching = selected != settings.invert
        parts = self._parts(line.text) if matching and (settings.only or settings.color) else []
        shown = [line.text[begin:end] for begin, end in parts] if settings.only else [line.text]
        if not all(self._printable(text) for text in shown):
            # GNU grep is stuck before such a line until the next one is selected.
            file.unprintable = True
            file.context_left = 0
            file.before.append(line)
            return
        file.last_shown = line.number
        file.before.clear()
        if not settings.only:
            file.printer.line(line.number, line.offset, line.text, parts, selected)
            return
        for (begin, _), text in zip(parts, shown, strict=True):
            file.printer.line(line.number, line.offset + begin, text, [(0, len(text))], selected)

    def _printable(self, text: bytes) -> bool:
        settings = self._settings
        if not settings.utf8 or settings.binary == "text" or text.isascii():
            return True
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    def _parts(self, text: bytes) -> list[tuple[int, int]]:
        """Return the spans of non-empty matches."""
        parts: list[tuple[int, int]] = []
        position = 0
        while position < len(text) and (found := self._find(text, position)) is not None:
            begin, end = found.span()
            if end > begin:
                parts.append((begin, end))
            position = max(end, begin + 1)
        return parts

    async def _flush(self, file: _File) -> None:
        data = file.printer.take()
        if data:
            self._ctx.spend_bytes(len(data))
            try:
                await self._ctx.stdout.write(data)
            except (FileError, BadDescriptor) as error:
                raise UsageError(f"{self._program}: write error: {error}", TROUBLE) from None

    async def _conclude(self, file: _File) -> None:
        """Counts, names and the word on binary files."""
        settings = self._settings
        if settings.count and not settings.quiet and not settings.listing:
            file.printer.count(file.selected)
        if settings.listing and not settings.quiet and (file.selected > 0) == (settings.listing == "l"):
            file.printer.add_name(file.name)
        await self._flush(file)
        silenced = file.binary and file.selected > file.selected_before_nul
        if settings.shows_lines and settings.binary == "binary" and (silenced or file.unprintable):
            await self._ctx.err(f"{self._program}: {file.name}: binary file matches\n")

    def _too_much(self, name: str) -> UsageError:
        if self._settings.flavour == "perl":
            return UsageError(f"{self._program}: {name}: exceeded PCRE's backtracking limit", TROUBLE)
        return UsageError(f"{self._program}: memory exhausted", TROUBLE)


def _width(stream: Stream) -> int:
    """Return the width of numbers with ``-T``: that of the file's size, if it is known."""
    if isinstance(stream, FileStream) and stream.file.kind == "file":
        return len(str(stream.file.stat().size))
    return 19


def _never(line: bytes, start: int) -> Match | None:
    """No pattern matches nothing."""
    return None

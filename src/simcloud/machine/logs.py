"""A container's log: a file of its machine, in the format container runtimes write.

Each line is ``<time> <stream> F <text>``; of a line above 16 KiB all pieces but the last have a ``P``. A file
that nobody else looks after is rotated at 10 MiB, one old file is kept. When the machine's disk does not take
a line, the line is lost, and nobody downstream ever sees it.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime
from functools import partial
from typing import Final, Protocol

from simcloud.machine.emit import Labels, LogLine
from simcloud.machine.files import FileError, Files, OpenFile
from simcloud.machine.files.nodes import Regular
from simcloud.machine.process.container import Host
from simcloud.machine.process.streams import LineSink

LOG_FOLDER: Final = "/var/log/containers"
ROTATE_BYTES: Final = 10 * 1024 * 1024
MOST_AT_ONCE: Final = 500_000
"""Maximum number of lines kept of one instant, about the capacity of a node's log files."""
STEP_S: Final = 13.7e-6
CHARACTER_S: Final = 83e-9
"""Lines of one instant are stamped one after the other, as the runtime reads them."""
MOST_DELAY_S: Final = 0.5
HEAD_BYTES: Final = len("2025-12-01T00:00:00.000000000Z stdout F \n")
EMITTED_PAST: Final = 100
"""Number of lines at the end of skipped time that also go to the emitter; all of them would fill it."""
PIECE_BYTES: Final = 16 * 1024
_SHORT: Final = PIECE_BYTES // 4
"""Lines of up to this many characters always fit into one piece."""


class PastLines(Protocol):
    """Lines of a time that was skipped, with their numbers from 0 on."""

    count: int

    def measure(self, first: int, end: int) -> int:
        """Return the bytes of all texts with these numbers."""

    def read(self, number: int) -> tuple[float, str]:
        """Return the time and the text of a line."""


class ContainerLog:
    """Writes one container's lines to its machine's disk and to the emitter."""

    rotates_itself = True
    """Whether nobody else does."""

    def __init__(self, machine: Host, source: str, origin: Labels = (), path: str = "") -> None:
        """``origin`` labels its lines; without one they have the container's name and the machine's."""
        self._machine = machine
        self._source = source
        self._origin = origin or (("container", source), ("node_name", machine.name))
        self._file: OpenFile | None = None
        self._second = -1
        self._second_text = ""
        self.size_bytes = 0
        self.has_past = False
        """Whether lines of skipped time were added."""
        self.path = path or f"{LOG_FOLDER}/{source}.log"
        self.lost_lines = 0
        self._latest = -1.0
        self.stamped = -1.0
        self._at_once = 0

    def line(self, text: str, stream: str = "stdout", written_s: float = 0.0) -> None:
        """One line, without its newline; its time is that of the runtime's reading it."""
        time = self._machine.clock()
        self._at_once = self._at_once + 1 if time == self._latest else 0
        self._latest = time
        if time <= self.stamped < time + MOST_DELAY_S:
            time = self.stamped
        time = max(time, written_s) + STEP_S + len(text) * CHARACTER_S
        self.stamped = time
        stamp = self._stamp(time)
        if len(text) <= _SHORT:
            record = f"{stamp} {stream} F {text}\n".encode("utf-8", "surrogateescape")
        else:
            data = text.encode("utf-8", "surrogateescape")
            record = _in_pieces(f"{stamp} {stream} ".encode(), data)
        try:
            if self._file is None:
                self._file = self._open(self._machine.host.files)
            elif self.rotates_itself and self.size_bytes >= ROTATE_BYTES:
                self.rotate(f"{self.path}.1")
            self._file.write(record)
        except FileError:
            self.lost_lines += 1
            return
        self.size_bytes += len(record)
        self._machine.emitter.log(LogLine(time, self._source, stream, text, self._origin))

    def stream(self, name: str) -> LineSink:
        """A stream whose lines go to the log: a container's stdout or stderr."""
        return LineSink(lambda line: self.line(line.decode("utf-8", "surrogateescape"), name), self._refuses)

    def _refuses(self, lines: int) -> bool:
        """Whether a flood of this instant has brought enough."""
        if self._at_once < MOST_AT_ONCE or self._machine.clock() != self._latest:
            return False
        self.lost_lines += lines
        return True

    def rotate(self, old_path: str) -> None:
        """Give the file another name and begin a new one. ``FileError`` when the disk does not let it."""
        files, old = self._machine.host.files, self._file
        files.rename(self.path, old_path)
        self._file = self._open(files)
        if old is not None:
            old.close()

    def add_past(self, past: PastLines, stream: str = "stdout") -> None:
        """Add the lines of a time that was skipped; they are made when a file is read. Long files are rotated."""
        files, first = self._machine.host.files, 0
        self.has_past = True
        while first < past.count:

            def measure(end: int, first: int = first) -> int:
                return HEAD_BYTES * (end - first) + past.measure(first, end)

            ends = range(first + 1, past.count)
            end = first + 1 + bisect_left(ends, ROTATE_BYTES - self.size_bytes, key=measure)
            try:
                mount, node = files.find(self.path)
                if isinstance(node, Regular):
                    text = partial(self._format_past, past, first, end, stream)
                    mount.volume.append_later(node, measure(end), text)
                self.size_bytes += measure(end)
                if end < past.count:
                    time = datetime.fromtimestamp(past.read(end)[0], UTC)
                    self.rotate(f"{self.path}.{time:%Y%m%d-%H%M%S}")
            except FileError:
                return  # a disk that is full has no room for the past either
            first = end
        for number in range(max(0, past.count - EMITTED_PAST), past.count):
            time_s, line = past.read(number)
            self._machine.emitter.log(LogLine(time_s, self._source, stream, line, self._origin))

    def _format_past(self, past: PastLines, first: int, end: int, stream: str) -> bytes:
        lines = (past.read(number) for number in range(first, end))
        return b"".join([f"{self._stamp(time)} {stream} F {text}\n".encode() for time, text in lines])

    def drop_first(self, size_bytes: int) -> None:
        """Drop the beginning of the file, as if it had been rotated away."""
        files = self._machine.host.files
        data = files.read(self.path)[size_bytes:]
        if self._file is not None:
            self._file.close()
        files.remove(self.path)
        self._file = self._open(files)
        self._file.write(data)
        self.size_bytes = len(data)

    def _open(self, files: Files) -> OpenFile:
        folder = self.path.rpartition("/")[0]
        if not files.exists(folder):
            files.mkdir(folder, 0o755, parents=True)
        self.size_bytes = 0
        return files.open(self.path, write=True, create=True, append=True)

    def _stamp(self, time: float) -> str:
        second = int(time)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._second_text}.{int((time - second) * 1e9):09d}Z"


def _in_pieces(head: bytes, data: bytes) -> bytes:
    pieces = [data[start : start + PIECE_BYTES] for start in range(0, len(data), PIECE_BYTES)]
    return b"".join(
        b"%s%s %s\n" % (head, b"F" if number == len(pieces) else b"P", piece)
        for number, piece in enumerate(pieces, 1)
    )

"""A container's log: a file of its machine, in the format container runtimes write.

Each line is ``<time> <stream> F <text>``. The file is rotated at 10 MiB, one old file is kept. When
the machine's disk does not take a line, the line is lost, and nobody downstream ever sees it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from aiopslab.machine.emit import LogLine
from aiopslab.machine.files import FileError, Files, OpenFile
from aiopslab.machine.process import LineSink

if TYPE_CHECKING:
    from aiopslab.machine.computer import Machine

LOG_FOLDER: Final = "/var/log/containers"
ROTATE_BYTES: Final = 10 * 1024 * 1024


class ContainerLog:
    """Writes one container's lines to its machine's disk and to the emitter."""

    def __init__(self, machine: Machine, source: str) -> None:
        self._machine = machine
        self._source = source
        self._file: OpenFile | None = None
        self._size_bytes = 0
        self._second = -1
        self._second_text = ""
        self.path = f"{LOG_FOLDER}/{source}.log"
        self.lost_lines = 0

    def line(self, text: str, stream: str = "stdout") -> None:
        """One line, without its newline."""
        time = self._machine.clock()
        record = f"{self._stamp(time)} {stream} F {text}\n".encode("utf-8", "surrogateescape")
        try:
            if self._file is None or self._size_bytes >= ROTATE_BYTES:
                self._file = self._open(self._machine.host.files)
            self._file.write(record)
        except FileError:
            self.lost_lines += 1
            return
        self._size_bytes += len(record)
        self._machine.emitter.log(LogLine(time, self._source, stream, text))

    def stream(self, name: str) -> LineSink:
        """A stream whose lines go to the log: a container's stdout or stderr."""
        return LineSink(lambda line: self.line(line.decode("utf-8", "surrogateescape"), name))

    def _open(self, files: Files) -> OpenFile:
        if self._file is not None:
            self._file.close()
            files.rename(self.path, f"{self.path}.1")
        elif not files.exists(LOG_FOLDER):
            files.mkdir(LOG_FOLDER, parents=True)
        self._size_bytes = 0
        return files.open(self.path, write=True, create=True, append=True)

    def _stamp(self, time: float) -> str:
        second = int(time)
        if second != self._second:
            self._second = second
            self._second_text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._second_text}.{int((time - second) * 1e9):09d}Z"

"""The log of mongod since 4.4: a JSON document per line, with a unique id per kind of message."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import Any, Final
from zlib import crc32

import msgspec

from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.extended_json import to_relaxed_json
from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream, LineSink

KEPT_LINES: Final = 1024
LINE_S: Final = 0.000_13
"""Time between two lines that are written without waiting."""

_ENCODE: Final = msgspec.json.Encoder().encode


class ServerLog:
    """Writes lines to stdout or a file, and keeps the last ones for ``getLog``."""

    def __init__(self, ctx: Context, path: str = "") -> None:
        self._ctx = ctx
        self._path = path
        self._waiting: list[bytes] | None = None
        self.recent: deque[str] = deque(maxlen=KEPT_LINES)
        self.warnings: list[str] = []
        self.total_lines = 0
        self._latest = 0.0

    def say(self, component: str, id: int, context: str, message: str, **attributes: Any) -> None:
        """A line of severity I."""
        self.write("I", component, id, context, message, attributes)

    def write(
        self,
        severity: str,
        component: str,
        id: int,
        context: str,
        message: str,
        attributes: dict[str, Any] | None = None,
        startup_warning: bool = False,
    ) -> None:
        """One line."""
        # Lines of one instant are written one after the other.
        self._latest = max(self._ctx.now, self._latest + LINE_S)
        line = _format_line(self._latest, severity, component, id, context, message, attributes)
        if startup_warning:
            line = line[:-1] + ',"tags":["startupWarnings"]}'
            self.warnings.append(line)
        self.add(line)

    def add(self, line: str) -> None:
        """A line that is formatted already."""
        self.recent.append(line)
        self.total_lines += 1
        self._put(line)

    def wiredtiger(self, context: str, number: int, text: str) -> None:
        """A line in which the storage engine complains."""
        message = {"error": number, "message": f"{self._stamp_thread(context)}, {text}"}
        self.write("E", "STORAGE", 22435, context, "WiredTiger error", message)

    def wiredtiger_progress(self, context: str, operation: str, category: str, text: str) -> None:
        """A line in which the storage engine reports its progress."""
        message = f"{self._stamp_thread(context)}, {operation}: [{category}] {text}"
        self.write("I", "STORAGE", 22430, context, "WiredTiger message", {"message": message})

    def format_checkpoint(self, transaction: int, time_s: float) -> str:
        """Return the line about a checkpoint."""
        thread = "WTCheckpointThread"
        text = (
            f"{self._stamp_thread(thread, time_s)}, WT_SESSION.checkpoint: [WT_VERB_CHECKPOINT_PROGRESS] saving checkpoint "
            f"snapshot min: {transaction}, snapshot max: {transaction} snapshot count: 0, oldest timestamp: (0, 0) , "
            "meta checkpoint timestamp: (0, 0)"
        )
        return _format_line(time_s, "I", "STORAGE", 22430, thread, "WiredTiger message", {"message": text})

    def _stamp_thread(self, context: str, time_s: float = 0.0) -> str:
        now = time_s or max(self._ctx.now, self._latest + LINE_S)
        thread = 0x7F0000000700 + (crc32(f"{self._ctx.container.name} {context}".encode()) << 8 & ~0xFFF)
        return f"[{int(now)}:{int(now * 1e6) % 1_000_000}][{self._ctx.process.pid}:{thread:#x}]"

    def fatal_assertion(self, context: str, number: int, file: str, line: int, trace: bool = True) -> None:
        """The two lines before mongod aborts."""
        first = 23089 if trace else 23091
        self.write("F", "-", first, context, "Fatal assertion", {"msgid": number, "file": file, "line": line})
        self.write("F", "-", first + 1, context, "\n\n***aborting after fassert() failure\n\n")

    def _put(self, line: str) -> None:
        stdout = self._ctx.stdout
        if self._path:
            try:
                self._ctx.files.append(self._path, f"{line}\n".encode())
            except FileError:
                pass  # mongod continues, too, if its log cannot be written
        elif isinstance(stdout, LineSink):
            self._ctx.log(line)
        elif isinstance(stdout, FileStream):
            try:
                stdout.file.write(f"{line}\n".encode())
            except FileError:
                pass
        else:
            self._queue(f"{line}\n".encode())

    def _queue(self, line: bytes) -> None:
        if self._waiting is None and self._ctx.stdout.write_at_once(line):
            return  # so that the last words are heard, too
        if self._waiting is None:
            self._waiting = [line]
            self._ctx.spawn(self._drain(), "mongod log")
        else:
            self._waiting.append(line)

    async def _drain(self) -> None:
        while self._waiting:
            data, self._waiting = b"".join(self._waiting), []
            await self._ctx.stdout.write(data)
        self._waiting = None


def _format_line(
    time_s: float,
    severity: str,
    component: str,
    id: int,
    context: str,
    message: str,
    attributes: Document | None = None,
) -> str:
    """Return a line, padded as mongod pads."""
    second = datetime.fromtimestamp(int(time_s), UTC).strftime("%Y-%m-%dT%H:%M:%S")
    head = f'"{severity}",'.ljust(6) + '"c":' + f'"{component}",'.ljust(12)
    line = (
        f'{{"t":{{"$date":"{second}.{int(time_s * 1000) % 1000:03d}+00:00"}},"s":{head}"id":{f"{id},":<9}"ctx":"{context}",'
        f'"msg":{_ENCODE(message).decode()}'
    )
    return f'{line},"attr":{_ENCODE(to_relaxed_json(attributes)).decode()}}}' if attributes else line + "}"

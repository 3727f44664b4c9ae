"""The log of mongod since 4.4: a JSON document per line, with a unique id per kind of message."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from simcloud.datastores.mongodb.extended_json import to_relaxed_json
from simcloud.machine.files import FileError
from simcloud.machine.process import Context, FileStream, LineSink

KEPT_LINES: Final = 1024

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
        """One line, padded as mongod pads."""
        now = self._ctx.now
        second = datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%S")
        head = ('"' + severity + '",').ljust(6) + '"c":' + ('"' + component + '",').ljust(12)
        parts = [
            f'{{"t":{{"$date":"{second}.{int(now * 1000) % 1000:03d}+00:00"}}',
            f'"s":{head}"id":{f"{id},":<9}"ctx":"{context}"',
            f'"msg":{_ENCODE(message).decode()}',
        ]
        if attributes:
            parts.append(f'"attr":{_ENCODE(to_relaxed_json(attributes)).decode()}')
        if startup_warning:
            parts.append('"tags":["startupWarnings"]')
        line = ",".join(parts) + "}"
        self.recent.append(line)
        self.total_lines += 1
        if startup_warning:
            self.warnings.append(line)
        self._put(line)

    def wiredtiger(self, context: str, number: int, text: str) -> None:
        """A line in which the storage engine complains."""
        now = self._ctx.now
        stamp = f"[{int(now)}:{int(now * 1e6) % 1_000_000}][{self._ctx.process.pid}:0x7f2b8a3f4700]"
        message = {"error": number, "message": f"{stamp}, {text}"}
        self.write("E", "STORAGE", 22435, context, "WiredTiger error", message)

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

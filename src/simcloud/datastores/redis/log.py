"""The server's log: ``1:M 05 Jan 2026 09:00:00.123 * Ready to accept connections``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from simcloud.machine.files import FileError
from simcloud.machine.process import Context
from simcloud.services.languages import print_line

MARKS: Final = {".": "debug", "-": "verbose", "*": "notice", "#": "warning"}
LEVELS: Final = ("debug", "verbose", "notice", "warning")


class ServerLog:
    """Lines on stdout, or in a file where the configuration names one. ``role`` is M for a master, C for a child."""

    def __init__(self, ctx: Context, level: Callable[[], str], path: Callable[[], str]) -> None:
        self.role = "C"
        self._ctx = ctx
        self._level = level
        self._path = path

    def __call__(self, mark: str, text: str) -> None:
        """One line, if it is important enough."""
        self._line(self._ctx.process.pid, self.role, mark, text)

    def child(self, pid: int, mark: str, text: str) -> None:
        """One line of a process that was split off to write files."""
        if pid == self._ctx.process.pid:
            self(mark, text)
        else:
            self._line(pid, "C", mark, text)

    def _line(self, pid: int, role: str, mark: str, text: str) -> None:
        if LEVELS.index(MARKS[mark]) < LEVELS.index(self._level()):
            return
        moment = datetime.fromtimestamp(self._ctx.now, UTC)
        stamp = f"{moment:%d %b %Y %H:%M:%S}.{moment.microsecond // 1000:03}"
        self.raw(f"{pid}:{role} {stamp} {mark} {text}")

    def raw(self, line: str) -> None:
        """A line as it is."""
        path = self._path()
        if not path:
            print_line(self._ctx, line)
            return
        try:
            self._ctx.files.append(path, f"{line}\n".encode())
        except FileError:
            pass  # a log that cannot be written cannot report that

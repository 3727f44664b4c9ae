"""Logs of containers as files of their machine: read, followed and deleted by the kubelet."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from aiopslab.cluster.api.times import parse
from aiopslab.machine.computer import Machine
from aiopslab.machine.files import FileError
from aiopslab.machine.logs import ContainerLog


class Entry(NamedTuple):
    """One line of a log."""

    stamp: str
    text: bytes

    @property
    def time_s(self) -> float:
        """When it was written."""
        return parse(self.stamp)


class FollowedLog(ContainerLog):
    """A container's log that tells followers of new lines."""

    def __init__(self, machine: Machine, source: str) -> None:
        super().__init__(machine, source)
        self._files = machine.host.files
        self._followers: dict[int, Callable[[Entry], None]] = {}
        self._numbers = 0

    def line(self, text: str, stream: str = "stdout") -> None:
        """One line; whoever follows is told."""
        lost = self.lost_lines
        super().line(text, stream)
        if self._followers and self.lost_lines == lost:
            entry = Entry(self._stamp(self._machine.clock()), text.encode("utf-8", "surrogateescape"))
            for follower in list(self._followers.values()):
                follower(entry)

    def follow(self, follower: Callable[[Entry], None]) -> Callable[[], None]:
        """Tell a function every new line. Returns how to stop it."""
        self._numbers += 1
        number = self._numbers
        self._followers[number] = follower
        return lambda: self._followers.pop(number, None) and None

    def entries(self) -> list[Entry]:
        """The lines that are still there: of the file, and of the one before its last rotation."""
        found = []
        for path in (f"{self.path}.1", self.path):
            try:
                data = self._files.read(path)
            except FileError:
                continue
            found += [entry_of(line) for line in data.split(b"\n") if line]
        return found

    def delete(self) -> None:
        """The container is removed: its log goes with it."""
        for path in (f"{self.path}.1", self.path):
            try:
                self._files.remove(path)
            except FileError:
                continue


def entry_of(line: bytes) -> Entry:
    """A line of the file: time, stream, a flag, and the text."""
    stamp, _, rest = line.partition(b" ")
    return Entry(stamp.decode(), rest.partition(b" ")[2].partition(b" ")[2])

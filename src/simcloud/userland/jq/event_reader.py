"""JSON as a stream of events: the path and value of every leaf, and the last path of what is closed."""

from __future__ import annotations

from collections import deque
from typing import Final

from simcloud.userland.jq.json_reader import ENDED, NONE, WAITING, JsonReader, Signal
from simcloud.userland.jq.tree import Value

_TOLD: Final = Signal()
"""Stands for an array or object whose events have been told already."""


class EventReader(JsonReader):
    """Events out of bytes that arrive in pieces. Arrays and objects are never held as a whole."""

    def __init__(self) -> None:
        super().__init__()
        self._events: deque[Value] = deque()

    def next(self) -> Value | Signal:
        """The next event, ``WAITING`` or ``ENDED``. Raises ``JsonError``."""
        self._skip_bom()
        while not self._events:
            value = self._step()
            if value is WAITING or value is ENDED:
                return value
            if value is not NONE and value is not _TOLD:
                self._events.append([[], value])
        return self._events.popleft()

    def _path(self) -> list[Value]:
        """The keys of what is open."""
        keys: list[Value] = []
        for part in self._stack:
            if type(part) is list:
                keys.append(float(len(part)))
            elif type(part) is str:
                keys.append(part)
        return keys

    def _add(self, end: int) -> None:
        value = self._next
        if type(self._stack[-1]) is not dict and value is not _TOLD:
            self._events.append([self._path(), value])
        self._next = None
        if type(self._stack[-1]) is str:
            self._stack[-2].pop(self._stack[-1], None)  # so that the last key stands last
        super()._add(end)

    def _closed(self, container: Value) -> Value:
        if not container:
            return container
        last = float(len(container) - 1) if type(container) is list else next(reversed(container))
        self._events.append([[*self._path(), last]])
        return _TOLD

"""What an operator puts at the exit of an interface with ``tc``: a queueing discipline.

It is one more place that packets pass on their way out, apart from the physics of the card and the wire: taking it
away heals what it did, and nothing else. At the exit of a machine it meets what all its namespaces send to other
machines, in a pod's namespace what that pod sends.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final, Protocol

from msgspec import Struct

from simcloud.machine.network.link import Impairment, Meter

FIRST_HANDLE: Final = 0x8001


class Settings(Protocol):
    """The settings of a queueing discipline."""

    def describe(self) -> str:
        """Return the settings in the format of ``tc qdisc show``."""
        ...


class Queueing(Struct, frozen=True):
    """A discipline at work. The counts are those of the exit when it was set."""

    kind: str
    handle: int
    settings: Settings
    place: Impairment
    packets_before: int
    bytes_before: int


class Exit:
    """Where packets leave an interface: what was sent, and the discipline there, None unless an operator set one."""

    __slots__ = ("_changed", "handles", "queueing", "sent")

    def __init__(self, changed: Callable[[], None], sent: Meter, handles: count[int] | None = None) -> None:
        self.queueing: Queueing | None = None
        self.sent = sent
        self._changed = changed
        self.handles = handles if handles is not None else count(FIRST_HANDLE)

    def put(self, kind: str, settings: Settings, handle: int | None = None) -> Impairment:
        """A new discipline in place of what was there, still harmless; it gets the next number unless it has one."""
        place = Impairment(self._changed)
        number = handle if handle is not None else next(self.handles)
        self.queueing = Queueing(
            kind, number, settings, place, self.sent.total("packets"), self.sent.total("bytes")
        )
        self._changed()
        return place

    def clear(self) -> None:
        """Let packets go as they come."""
        if self.queueing is not None:
            self.queueing = None
            self._changed()

"""The way from one namespace to another: all the places a packet passes, as one object.

Connections keep the path they use. While everything on it is healthy, a packet costs one addition;
any change of a link, card or interface makes every path look again before its next packet.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from simcloud.machine.network.link import LOOPBACK_DELAY_S, Impairment

if TYPE_CHECKING:
    from simcloud.machine.network.fabric import Network
    from simcloud.machine.network.namespace import Namespace
    from simcloud.machine.network.packet_filter import Ways


class Path:
    """One direction between two namespaces, its physics and its counters."""

    __slots__ = (
        "_network", "_places", "_random", "_version", "bytes", "delay_s", "filters", "healthy", "lost_bytes",
        "lost_packets", "packets", "retransmits", "source", "target",
    )  # fmt: skip

    def __init__(self, network: Network, source: Namespace, target: Namespace) -> None:
        self.source = source
        self.target = target
        self.healthy = False
        self.delay_s = 0.0
        self.filters: Ways | None = None
        self.packets = 0
        self.bytes = 0
        self.lost_packets = 0
        self.lost_bytes = 0
        self.retransmits = 0
        self._network = network
        self._places: list[tuple[Impairment, int]] = []
        self._random: Random | None = None
        self._version = -1

    def arrival(self, size_bytes: int) -> float:
        """When a packet sent now arrives, if it does; it takes its place in the queues on the way."""
        if self._version != self._network.version:
            self._refresh()
        now = self._network.kernel.now
        if self.healthy:
            return now + self.delay_s
        waited_s = 0.0
        for place, direction in self._places:
            waited_s += place.wait_s(now + waited_s, size_bytes, direction, self._stream())
        return now + (self.delay_s + waited_s)

    def launch(self, size_bytes: int) -> float:
        """Count a packet and say when it arrives."""
        self.packets += 1
        self.bytes += size_bytes
        return self.arrival(size_bytes)

    def passes(self, size_bytes: int) -> bool:
        """Whether the packet that is due now really arrives. Draws only where something may be lost."""
        if self._version != self._network.version:
            self._refresh()
        if self.healthy or not (self._is_cut() or self._is_lost()):
            return True
        self.lost_packets += 1
        self.lost_bytes += size_bytes
        return False

    @property
    def blocked(self) -> bool:
        """Whether nothing can get through at all at present."""
        return self._is_cut() or any(place.opaque for place, _ in self._current_places())

    def _is_cut(self) -> bool:
        """What left a namespace before its end is still on the wire; what comes after goes nowhere."""
        source, target = self.source, self.target
        return source is not target and not (target.is_up and (source.is_up or source.gone))

    def _is_lost(self) -> bool:
        return any(place.swallows(self._stream()) for place, _ in self._places)

    def _current_places(self) -> list[tuple[Impairment, int]]:
        if self._version != self._network.version:
            self._refresh()
        return self._places

    def _refresh(self) -> None:
        self._version = self._network.version
        source, target = self.source, self.target
        if source is target:
            self.delay_s = LOOPBACK_DELAY_S
        else:
            self._places = self._network.places_between(source, target)
            self.delay_s = sum(place.delay_s for place, _ in self._places)
        self.filters = self._network.filters_between(source, target)
        self.healthy = (
            self.filters is None
            and not (source.gone or self._is_cut())
            and all(place.healthy for place, _ in self._places)
        )

    def _stream(self) -> Random:
        """Made only when something is drawn: most paths never draw."""
        if self._random is None:
            self._random = self._network.kernel.random(f"network/{self.source.name}/{self.target.name}")
        return self._random

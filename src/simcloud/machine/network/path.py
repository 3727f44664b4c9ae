"""The way from one namespace to another: all the places a packet passes, as one object.

Connections keep the path they use. While everything on it is healthy, a packet costs one addition;
any change of a link, card or interface makes every path look again before its next packet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, Protocol
from zlib import crc32

from simcloud.machine.network.datagram_flows import DatagramFlows
from simcloud.machine.network.link import LOOPBACK_DELAY_S, Impairment, Meter, Nic
from simcloud.machine.network.packet_filter import PacketFilter, Ways
from simcloud.machine.network.routing import Endpoint, Route
from simcloud.sim import Kernel


class Interface(Protocol):
    """What paths, routers and tables see of a namespace: its interface, not its sockets."""

    kernel: Kernel
    name: str
    machine: str
    address: str
    impairment: Impairment
    ingress: Impairment
    filter: PacketFilter | None
    sent: Meter
    received: Meter
    is_up: bool
    gone: bool
    number: int
    netns: str

    @property
    def network(self) -> Fabric:
        """The network that the namespace belongs to."""


class Sighting(NamedTuple):
    """A packet where it leaves or enters a namespace, for tcpdump; its source stands first."""

    namespace: Interface
    is_outgoing: bool
    ends: tuple[Endpoint, Endpoint]
    flags: str = ""
    """Those of TCP, as tcpdump writes them; none for a datagram."""
    length: int = 0
    counts: tuple[int, int] = (0, 0)
    """Bytes that source and target had sent before."""
    message: object = None


Tap = Callable[[Sighting], None]
"""Sees all packets of a network. Then no path is healthy, so that packets of the fast way are not asked about taps."""


class Router(Protocol):
    """Decides where packets go, as the packet filter of a machine does.

    It may send a connection elsewhere (a Service's address), refuse it, drop it (a network policy), or report that
    nothing is there. It is called once for each connection and for each datagram.
    """

    def route(self, source: Interface, address: str, port: int, transport: str) -> Route:
        """Where a packet from ``source`` goes; transport is "tcp", "udp" or "icmp" (then port is 0)."""
        ...


class Fabric(Protocol):
    """What paths and sockets need of the network."""

    kernel: Kernel
    router: Router
    version: int
    noise: tuple[float, ...]
    taps: list[Tap]
    datagram_flows: DatagramFlows

    def find(self, address: str) -> Interface | None:
        """Return the namespace that has this address, or None."""

    machines: dict[str, Nic]

    def path(self, source: Interface, target: Interface, via: str = "") -> Path:
        """The way from one namespace to the other; always the same object."""

    def interfaces_on(self, machine: str) -> Sequence[Interface]:
        """All namespaces of a machine, in the order of their numbers."""

    def places_between(self, source: Interface, target: Interface) -> list[tuple[Impairment, int]]:
        """What a packet passes on its way, and in which direction."""

    def filters_between(self, source: Interface, target: Interface, via: str) -> Ways | None:
        """The packet filters on the way, None when there are none."""


class Path:
    """One direction between two namespaces, its physics and its counters."""

    __slots__ = (
        "_network", "_phase", "_places", "_random", "_version", "bytes", "delay_s", "filters", "healthy", "lost_bytes",
        "lost_packets", "noise", "packets", "retransmits", "source", "target", "via",
    )  # fmt: skip

    def __init__(self, network: Fabric, source: Interface, target: Interface, via: str = "") -> None:
        self.source = source
        self.target = target
        self.via = via
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
        self.noise = network.noise
        self._phase = crc32(f"{source.name} {target.name}{via}".encode()) if self.noise else 0
        self._version = -1

    def arrival(self, size_bytes: int) -> float:
        """When a packet sent now arrives, if it does; it takes its place in the queues on the way."""
        if self._version != self._network.version:
            self._refresh()
        now = self._network.kernel.now
        delay_s = self.draw_delay_s() if self.noise else self.delay_s
        if self.healthy:
            return now + delay_s
        waited_s = 0.0
        for place, direction in self._places:
            waited_s += place.wait_s(now + waited_s, size_bytes, direction, self._stream())
        return now + (delay_s + waited_s)

    def draw_delay_s(self) -> float:
        """Return the delay of the next packet."""
        noise = self.noise
        return self.delay_s * noise[(self.packets + self._phase) % len(noise)]

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
        self.filters = self._network.filters_between(source, target, self.via)
        self.healthy = (
            self.filters is None
            and not self._network.taps
            and not (source.gone or self._is_cut())
            and all(place.healthy for place, _ in self._places)
        )

    def _stream(self) -> Random:
        """Made only when something is drawn: most paths never draw."""
        if self._random is None:
            self._random = self._network.kernel.random(f"network/{self.source.name}/{self.target.name}")
        return self._random

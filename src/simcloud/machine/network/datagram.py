"""Datagrams, as UDP gives them: each on its own, in no promised order, gone when lost."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from types import coroutine
from typing import Any, Final, Protocol

from msgspec import Struct

from simcloud.machine.network.errors import (
    Closed,
    ConnectionRefused,
    NetworkError,
    NetworkUnreachable,
    NotConnected,
)
from simcloud.machine.network.packet_filter import ACCEPT, REJECT, Packet
from simcloud.machine.network.path import Fabric, Interface, Sighting
from simcloud.machine.network.routing import Endpoint, Verdict, is_loopback
from simcloud.machine.network.waiters import Waiters, wait_in, wake_all

DATAGRAM_BYTES: Final = 128
BUFFER_BYTES: Final = 212_992
"""What a socket keeps unread (Linux's net.core.rmem_default); more is dropped."""

OVERHEAD_BYTES: Final = 512
"""What the kernel's own bookkeeping takes of that buffer for each datagram."""

TRANSLATIONS: Final = 1024
"""How many rewritten destinations a socket remembers."""


class Datagram(Struct, frozen=True):
    """A message and where it came from."""

    message: Any
    size_bytes: int
    source: Endpoint
    protocol: str


class DatagramNetwork(Fabric, Protocol):
    """A network whose namespaces have datagram sockets."""

    def find(self, address: str) -> DatagramNamespace | None:
        """Return the namespace that has this address, or None."""


class DatagramNamespace(Interface, Protocol):
    """What a datagram socket needs of its namespace."""

    @property
    def network(self) -> DatagramNetwork:
        """The network that the namespace belongs to."""

    def source_address(self, bound: str) -> str:
        """The address packets of a socket come from."""

    def datagram_socket_at(self, address: str, port: int) -> DatagramSocket | None:
        """Return the datagram socket for this address and port, or None."""

    def drop_datagram_socket(self, socket: DatagramSocket) -> None:
        """Free the port of a socket."""


class DatagramSocket:
    """A bound port. ``await receive()``, or ``on_datagram`` for each as it comes."""

    __slots__ = (
        "_buffered_bytes", "_error", "_inbox", "_kernel", "_on_datagram", "_peer", "_translations",
        "_waiters", "address", "closed", "dropped", "namespace", "owner", "port", "protocol",
    )  # fmt: skip

    def __init__(
        self, namespace: DatagramNamespace, address: str, port: int, protocol: str, owner: object
    ) -> None:
        self.namespace = namespace
        self.address = address
        self.port = port
        self.protocol = protocol
        self.owner = owner
        self.closed = False
        self.dropped = 0
        self._kernel = namespace.kernel
        self._on_datagram: Callable[[Datagram], None] | None = None
        self._peer: Endpoint | None = None
        self._error: NetworkError | None = None
        self._inbox: deque[Datagram] = deque()
        self._buffered_bytes = 0
        self._waiters: Waiters = []
        self._translations: OrderedDict[Endpoint, Endpoint] = OrderedDict()

    @property
    def peer(self) -> Endpoint | None:
        """Whom the socket is connected to."""
        return self._peer

    def connect(self, address: str, port: int) -> None:
        """Talk to this peer only. Then ``send`` needs no address, and a closed port there is noticed."""
        self._peer = (address, port)

    def send(self, message: Any, size_bytes: int = DATAGRAM_BYTES) -> None:
        """Send to the connected peer."""
        if self._peer is None:
            raise NotConnected
        self.send_to(*self._peer, message, size_bytes)

    def send_to(self, address: str, port: int, message: Any, size_bytes: int = DATAGRAM_BYTES) -> None:
        """Send to an address (a literal one: names are resolved before). It never waits.

        Raises ``NetworkUnreachable`` while the interface is down, ``ConnectionRefused`` when an earlier
        datagram to the connected peer came back; a datagram that is lost raises nothing.
        """
        self._raise_if_closed()
        source = self.namespace
        if not (source.is_up or is_loopback(address)):
            raise NetworkUnreachable
        route = source.network.router.route(source, address, port, "udp")
        origin = "127.0.0.1" if is_loopback(route.address) else source.source_address(self.address)
        for tap in source.network.taps:
            ends = ((origin, self.port), (address, port))
            tap(Sighting(source, True, ends, length=size_bytes, message=message))
        if route.verdict is Verdict.REFUSE:
            self._came_back((address, port))
        if route.verdict is not Verdict.DELIVER:
            return
        destination = (route.address, route.port)
        source.network.datagram_flows.add(self._kernel.now, (origin, self.port), (address, port), destination)
        if destination != (address, port):
            self._translate(destination, (address, port))
        target = source if is_loopback(route.address) else source.network.find(route.address)
        if target is None:
            return
        datagram = Datagram(message, size_bytes, (origin, self.port), self.protocol)
        arrival = source.network.path(source, target).launch(size_bytes)
        self._kernel.call_at(arrival, self._arrives, (target, destination, datagram))

    @coroutine
    def receive(self, timeout_s: float | None = None) -> Generator[float | None, Any, Datagram]:
        """The next datagram; ``TimedOut`` when none came in time, ``Closed`` after ``close``.

        On a connected socket, ``ConnectionRefused`` when nothing listens at the peer's port.
        """
        while not self._inbox:
            self._raise_if_closed()
            yield from wait_in(self._waiters, self._kernel, timeout_s, "datagram")
        datagram = self._inbox.popleft()
        self._buffered_bytes -= datagram.size_bytes + OVERHEAD_BYTES
        return datagram

    @property
    def on_datagram(self) -> Callable[[Datagram], None] | None:
        """Called with each datagram as it arrives, outside any task; then ``receive`` sees none."""
        return self._on_datagram

    @on_datagram.setter
    def on_datagram(self, callback: Callable[[Datagram], None] | None) -> None:
        self._on_datagram = callback
        while self._inbox and self._on_datagram is not None:
            datagram = self._inbox.popleft()
            self._buffered_bytes -= datagram.size_bytes + OVERHEAD_BYTES
            self._on_datagram(datagram)

    @property
    def unread_bytes(self) -> int:
        """What arrived and was not read yet, as the kernel counts it."""
        return self._buffered_bytes

    def close(self) -> None:
        """Free the port; what was not read is gone."""
        if not self.closed:
            self.closed = True
            self._on_datagram = None
            self._inbox.clear()
            self._buffered_bytes = 0
            self.namespace.drop_datagram_socket(self)
            wake_all(self._waiters)

    # -- arrivals ------------------------------------------------------------------------------

    def _arrives(self, flight: tuple[DatagramNamespace, Endpoint, Datagram]) -> None:
        """One of this socket's datagrams is due at its target."""
        target, destination, datagram = flight
        network, source = self.namespace.network, self.namespace
        path = network.path(source, target)
        if not path.passes(datagram.size_bytes):
            return
        if path.filters is not None:
            packet = Packet("udp", datagram.source, destination, datagram.size_bytes, new=True)
            verdict = path.filters.verdict(packet, packet, packet)
            if verdict != ACCEPT:
                if verdict == REJECT:
                    answer_at = network.path(target, source).launch(datagram.size_bytes)
                    self._kernel.call_at(answer_at, self._port_unreachable_arrives, (target, destination))
                return
        socket = target.datagram_socket_at(*destination)
        for tap in network.taps:
            sender = socket.find_dialled(datagram.source) if socket is not None else datagram.source
            ends, size_bytes = (sender, destination), datagram.size_bytes
            tap(Sighting(target, False, ends, length=size_bytes, message=datagram.message))
        if socket is not None:
            socket.take(datagram)
        else:
            answer_at = network.path(target, source).launch(datagram.size_bytes)
            self._kernel.call_at(answer_at, self._port_unreachable_arrives, (target, destination))

    def _port_unreachable_arrives(self, answer: tuple[DatagramNamespace, Endpoint]) -> None:
        target, destination = answer
        if self.namespace.network.path(target, self.namespace).passes(DATAGRAM_BYTES):
            self._came_back(self.find_dialled(destination))

    def find_dialled(self, source: Endpoint) -> Endpoint:
        """The address that this socket knows a sender by."""
        return self._translations.get(source, source)

    def take(self, datagram: Datagram) -> None:
        """A datagram has arrived at this socket."""
        if datagram.source in self._translations:
            source = self._translations[datagram.source]
            datagram = Datagram(datagram.message, datagram.size_bytes, source, datagram.protocol)
        if self._peer is not None and datagram.source != self._peer:
            return
        size_bytes = self._buffered_bytes + datagram.size_bytes + OVERHEAD_BYTES
        if datagram.protocol != self.protocol:
            return
        if self._on_datagram is not None:
            self._on_datagram(datagram)
        elif size_bytes > BUFFER_BYTES:
            self.dropped += 1
        else:
            self._buffered_bytes = size_bytes
            self._inbox.append(datagram)
            wake_all(self._waiters)

    def _translate(self, real: Endpoint, dialled: Endpoint) -> None:
        """Answers from the real address will look as if they came from the one that was asked."""
        self._translations[real] = dialled
        if len(self._translations) > TRANSLATIONS:
            self._translations.popitem(last=False)

    def _came_back(self, destination: Endpoint) -> None:
        """Linux tells only connected sockets."""
        if self._peer == destination:
            self._error = ConnectionRefused()
            wake_all(self._waiters)

    def _raise_if_closed(self) -> None:
        if self.closed:
            raise Closed
        if self._error is not None:
            error, self._error = self._error, None
            raise error

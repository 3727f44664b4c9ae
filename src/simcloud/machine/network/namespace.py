"""A network namespace: the address, ports and connections of one pod, container or host.

It plays the part of the operating system's network stack: it hands out ports, knows who listens, and
when a program dies or the machine is lost it decides what the peers get to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol
from zlib import crc32

from simcloud.machine.network.connection import Connection
from simcloud.machine.network.datagram import DatagramSocket
from simcloud.machine.network.errors import (
    AddressInUse,
    AddressNotAvailable,
    ConnectionReset,
    ConnectTimedOut,
    HostUnreachable,
    InvalidArgument,
    NameNotFound,
    NetworkError,
    NetworkUnreachable,
)
from simcloud.machine.network.handshake import ARP_TIMEOUT_S, Handshake
from simcloud.machine.network.link import LOCAL_DELAY_S, Impairment, Meter
from simcloud.machine.network.listener import BACKLOG, Listener
from simcloud.machine.network.packet_filter import ACCEPT, Packet, PacketFilter
from simcloud.machine.network.path import Fabric, Interface, Path, Tap
from simcloud.machine.network.ports import PORTS, EphemeralPorts, Lingering, Pair, find_bound, is_taken
from simcloud.machine.network.qdisc import Exit
from simcloud.machine.network.routing import ONLY_IPV6, WILDCARDS, Endpoint, Verdict, is_address, is_loopback
from simcloud.machine.network.tables import (
    InterfaceInfo,
    NodeNetworking,
    SocketInfo,
    interfaces_of,
    of_connection,
    of_datagram_socket,
    of_listener,
)
from simcloud.sim import Event, TimedOut

PING_BYTES: Final = 84
UNPRIVILEGED: Final = 1024


class Resolver(Protocol):
    """Turns names into addresses."""

    async def resolve(self, namespace: Namespace, name: str) -> list[str]:
        """The addresses of a name, as asked from ``namespace``, in the order they should be tried.

        Raises ``NameNotFound`` when there is no such name, ``ResolverFailure`` when nobody can tell.
        """
        ...


class NamespaceNetwork(Fabric, Protocol):
    """What a namespace needs of the network that made it."""

    resolver: Resolver
    cluster: NodeNetworking | None

    def find(self, address: str) -> Namespace | None:
        """Return the namespace that has this address, or None."""

    def host_of(self, machine: str) -> Namespace | None:
        """A machine's own namespace."""

    def interfaces_on(self, machine: str) -> Sequence[Namespace]:
        """All namespaces of a machine, in the order of their numbers."""

    def find_linked_machines(self, machine: str) -> list[str]:
        """The machines that this one has exchanged packets with."""

    def namespaces(self) -> list[Namespace]:
        """All namespaces that have an address."""

    def exit_of(self, interface: Interface | str) -> Exit:
        """Where packets leave a namespace, or (by its name) a machine."""

    def set_tap(self, tap: Tap, is_on: bool) -> None:
        """Show all packets to a tap from now on, or no more."""

    def invalidate_paths(self) -> None:
        """Make every path check its route again, after a change of the network."""

    def forget(self, namespace: Namespace) -> None:
        """Free the address of a namespace that is gone."""


class Namespace:
    """One network stack. Made by ``Network.namespace``.

    ``impairment`` is what happens to packets that leave its interface, ``ingress`` to those that come
    in; loopback traffic meets neither. ``sent`` and ``received`` count packets and bytes.
    """

    def __init__(self, network: NamespaceNetwork, name: str, address: str, machine: str) -> None:
        self.network = network
        self.kernel = network.kernel
        self.name = name
        self.machine = machine
        self.address = address
        self.resolver = network.resolver
        self.impairment = Impairment(network.invalidate_paths)
        self.ingress = Impairment(network.invalidate_paths)
        self.filter: PacketFilter | None = None
        self.sent = Meter()
        self.received = Meter()
        self.is_up = True
        self.gone = False
        self.number = 0
        """The number of its interface on the machine."""
        self.netns = ""
        """The name of the namespace on the machine, if it has one."""
        self.outside: list[SocketInfo] = []
        """Connections whose other end is not simulated."""
        self._listeners: dict[Endpoint, Listener] = {}
        self._connections: dict[Pair, Connection] = {}
        self._datagram_sockets: dict[Endpoint, DatagramSocket] = {}
        self._lingering = Lingering()
        self._dialled = 0
        self._accepted = 0
        self._ephemeral_ports = EphemeralPorts(f"{network.kernel.seed} {name} {address}")

    def __repr__(self) -> str:
        return f"<Namespace {self.name} {self.address} on {self.machine}>"

    # -- programs ------------------------------------------------------------------------------

    def listen(
        self,
        port: int,
        protocol: str,
        address: str = "0.0.0.0",
        owner: object = None,
        backlog: int = BACKLOG,
    ) -> Listener:
        """Take connections on a port (0: any free one). ``AddressInUse`` when somebody else does."""
        if address != ONLY_IPV6:
            port = self._free_port(port, address, self._listeners)
        listener = Listener(self, address, port, protocol, owner=owner, backlog=backlog)
        self._listeners[address, port] = listener
        return listener

    def bind(
        self, port: int, protocol: str, address: str = "0.0.0.0", owner: object = None
    ) -> DatagramSocket:
        """A socket for datagrams on a port (0: any free one). ``AddressInUse`` when it is taken."""
        port = self._free_port(port, address, self._datagram_sockets)
        socket = DatagramSocket(self, address, port, protocol, owner)
        self._datagram_sockets[address, port] = socket
        return socket

    async def dial(
        self, host: str, port: int, protocol: str, timeout_s: float | None = None, owner: object = None
    ) -> Connection:
        """Connect to a name or an address; every address of a name is tried in turn.

        Raises ``NameNotFound`` or ``ResolverFailure``, and for the last address tried
        ``ConnectionRefused`` (nothing listens there), ``ConnectTimedOut`` (no answer, or all of it took
        longer than ``timeout_s``), ``HostUnreachable``, ``NetworkUnreachable`` (this interface is down)
        ``AddressNotAvailable`` (no ephemeral port is left) or ``InvalidArgument`` (no such port number).
        """
        if timeout_s is None:
            return await self._dial(host, port, protocol, owner)
        deadline = self.kernel.now + timeout_s
        try:
            with self.kernel.timeout(timeout_s):
                return await self._dial(host, port, protocol, owner)
        except TimedOut:
            if self.kernel.now < deadline:  # a time-out of somebody further out
                raise
            raise ConnectTimedOut from None

    async def resolve(self, host: str) -> list[str]:
        """The addresses of a name; of an address, itself."""
        return [host] if is_address(host) else await self.resolver.resolve(self, host)

    async def ping(self, address: str, timeout_s: float = 10.0) -> float:
        """The round trip to an address in seconds.

        ``TimedOut`` when there was no answer, ``HostUnreachable`` when nobody has the address,
        ``NetworkUnreachable`` while this interface is down.
        """
        with self.kernel.timeout(timeout_s):
            return await self._ping(address)

    def release(self, owner: object, reset: bool = False) -> None:
        """A program ended: free its ports and end its connections, as the operating system does.

        Peers see the orderly end, or a reset where the program had left something unread (or always,
        if ``reset`` is set).
        """
        for listener in [each for each in self._listeners.values() if each.owner is owner]:
            listener.close()
        for socket in [each for each in self._datagram_sockets.values() if each.owner is owner]:
            socket.close()
        self.outside = [socket for socket in self.outside if socket.owner is not owner]
        for connection in [each for each in self._connections.values() if each.owner is owner]:
            if reset:
                connection.reset()
            else:
                connection.close()

    # -- operators and hardware ----------------------------------------------------------------

    def down(self) -> None:
        """Take the interface down: nothing goes in or out, except over loopback."""
        self.is_up = False
        self.network.invalidate_paths()

    def up(self) -> None:
        """Bring the interface up again."""
        if not self.gone:
            self.is_up = True
            self.network.invalidate_paths()

    def use_filter(self, wanted: PacketFilter | None) -> None:
        """Set the packet filter, or remove it; call it also after a change of the filter's rules."""
        self.filter = wanted if wanted is not None and not wanted.idle else None
        self.network.invalidate_paths()

    def destroy(self, silent: bool = False) -> None:
        """End the namespace. Its address is free again.

        ``silent`` means that the machine is lost: peers get no notice and run into time-outs.
        Otherwise every program in it ends first, in the way ``release`` says.
        """
        if self.gone:
            return
        if silent:
            for connection in self._connections.values():
                connection.vanish()
        for listener in list(self._listeners.values()):
            listener.close()
        for socket in list(self._datagram_sockets.values()):
            socket.close()
        for connection in list(self._connections.values()):
            connection.close()
        self._connections.clear()
        self._lingering.clear()
        self.gone = True
        self.is_up = False
        self.network.forget(self)

    def sockets(self) -> list[SocketInfo]:
        """All sockets, for ``ss``; in the same order every time."""
        self._lingering.expire(self.kernel.now)
        table = [of_listener(each) for each in self._listeners.values()]
        table += [of_connection(each) for each in self._connections.values()]
        table += [of_datagram_socket(each) for each in self._datagram_sockets.values()]
        table += [SocketInfo("tcp", state, 0, 0, *pair) for pair, state, _ in self._lingering.states()]
        table += self.outside
        if self.network.cluster is not None:
            table += self.network.cluster.sockets(self)
        return sorted(table, key=lambda info: info.sort_key)

    def interfaces(self) -> list[InterfaceInfo]:
        """The interfaces with their counters, for ``ip``."""
        return interfaces_of(self)

    # -- called by sockets ---------------------------------------------------------------------

    def listener_at(self, address: str, port: int) -> Listener | None:
        """Return the listener for this address and port, or None."""
        return find_bound(self._listeners, address, port)

    def first_port(self) -> int | None:
        """Return the first port that takes connections from outside, or None."""
        return next(
            (port for address, port in self._listeners if address in (*WILDCARDS, self.address)), None
        )

    def datagram_socket_at(self, address: str, port: int) -> DatagramSocket | None:
        """Return the datagram socket for this address and port, or None."""
        return find_bound(self._datagram_sockets, address, port)

    def source_address(self, bound: str) -> str:
        """The address packets of a socket come from."""
        return self.address if bound in WILDCARDS else bound

    def add_connection(self, connection: Connection) -> None:
        """A connection has begun. One with the same ends is left over from a peer that lost its memory."""
        pair = (connection.local, connection.remote)
        if pair in self._connections:
            self._connections[pair].fail(ConnectionReset())
        self._connections[pair] = connection
        if connection.listener is None:
            self._dialled += 1
        else:
            self._accepted += 1

    def drop_connection(self, connection: Connection, lingers_as: str | None = None) -> None:
        """A connection is over for its program; the kernel may remember it for a while."""
        pair = (connection.local, connection.remote)
        if self._connections.get(pair) is connection:
            del self._connections[pair]
        if lingers_as is None:
            self._lingering.discard(pair)
        elif not self.gone:
            self._lingering.add(
                pair, lingers_as, self.kernel.now, (connection.peer.local, connection.peer.remote)
            )

    def free_remote_port(self, local: Endpoint, address: str, port: int) -> int:
        """A port of a masquerading machine, at random, that no connection with this local end uses."""
        port = UNPRIVILEGED + crc32(f"{local} {address} {port}".encode()) % (len(PORTS) - UNPRIVILEGED)
        while (pair := (local, (address, port))) in self._connections or pair in self._lingering:
            port = port + 1 if port + 1 in PORTS else UNPRIVILEGED
        return port

    def connections(self) -> list[Connection]:
        """All connections that are not over, in the order of their beginning."""
        return list(self._connections.values())

    def count_openings(self) -> tuple[int, int]:
        """How many connections were dialled and accepted here so far."""
        return self._dialled, self._accepted

    def list_closed_connections(self) -> list[tuple[Pair, str, Pair]]:
        """Connections that ended lately: their ends, state, and ends as the peer saw them."""
        self._lingering.expire(self.kernel.now)
        return list(self._lingering.states())

    def drop_listener(self, listener: Listener) -> None:
        """A port is free again."""
        del self._listeners[listener.address, listener.port]

    def drop_datagram_socket(self, socket: DatagramSocket) -> None:
        """A port is free again."""
        del self._datagram_sockets[socket.address, socket.port]

    # -- inside --------------------------------------------------------------------------------

    async def _dial(self, host: str, port: int, protocol: str, owner: object) -> Connection:
        failure: NetworkError | None = None
        for address in await self.resolve(host):
            try:
                return await self._connect(address, port, protocol, owner)
            except NetworkError as error:
                failure = error
        raise failure or NameNotFound(host)

    async def _connect(self, address: str, port: int, protocol: str, owner: object) -> Connection:
        if port not in PORTS:
            raise InvalidArgument
        if self.gone or not (self.is_up or is_loopback(address)):
            raise NetworkUnreachable
        route = self.network.router.route(self, address, port, "tcp")
        remote = (address, port)
        local_address = "127.0.0.1" if is_loopback(address) else self.address
        local = (local_address, self._ephemeral_port_to(local_address, remote))
        connection = Connection(self, local, remote, protocol, owner=owner)
        self.add_connection(connection)
        Handshake(connection, route)
        try:
            await connection.wait_open()
        except BaseException:  # whoever dialled was dropped or ran out of time, or it failed
            connection.close()
            raise
        return connection

    async def _ping(self, address: str) -> float:
        if self.gone or not (self.is_up or is_loopback(address)):
            raise NetworkUnreachable
        route = self.network.router.route(self, address, 0, "icmp")
        if route.verdict in (Verdict.REFUSE, Verdict.UNREACHABLE):
            await self.kernel.sleep(LOCAL_DELAY_S)
            raise HostUnreachable
        started_at = self.kernel.now
        if route.verdict is Verdict.DELIVER:
            target = self if is_loopback(route.address) else self.network.find(route.address)
            if target is None:
                await self.kernel.sleep(ARP_TIMEOUT_S)
                raise HostUnreachable
            there, back = self.network.path(self, target), self.network.path(target, self)
            await self.kernel.sleep(there.launch(PING_BYTES) - self.kernel.now)
            if there.passes(PING_BYTES):
                await self.kernel.sleep(back.launch(PING_BYTES) - self.kernel.now)
                if back.passes(PING_BYTES) and _pings(there, self.address, address):
                    return self.kernel.now - started_at
        return await Event[float](self.kernel).wait()  # nothing will come: wait for the time-out

    def _free_port(
        self, port: int, address: str, taken: dict[Endpoint, Listener] | dict[Endpoint, DatagramSocket]
    ) -> int:
        if port not in PORTS:
            raise InvalidArgument
        if address not in (*WILDCARDS, self.address) and not is_loopback(address):
            raise AddressNotAvailable
        if port == 0:
            return self._ephemeral_ports.take(lambda candidate: is_taken(taken, address, candidate))
        if is_taken(taken, address, port):
            raise AddressInUse
        return port

    def _ephemeral_port_to(self, address: str, remote: Endpoint) -> int:
        self._lingering.expire(self.kernel.now)

        def in_use(port: int) -> bool:
            pair = ((address, port), remote)
            return (
                pair in self._connections
                or pair in self._lingering
                or is_taken(self._listeners, address, port)
            )

        return self._ephemeral_ports.take(in_use, remote)


def _pings(path: Path, source: str, target: str) -> bool:
    """Whether a filter on the way lets an echo request pass."""
    if path.filters is None:
        return True
    packet = Packet("icmp", (source, 0), (target, 0), PING_BYTES, new=True)
    return path.filters.verdict(packet, packet, packet) == ACCEPT

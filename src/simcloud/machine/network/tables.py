"""What ``ss``, ``netstat`` and ``ip`` show of a namespace."""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NamedTuple, Protocol
from zlib import crc32

from msgspec import Struct

from simcloud.machine.network.connection import Connection
from simcloud.machine.network.datagram import DatagramSocket
from simcloud.machine.network.listener import Listener
from simcloud.machine.network.packets import ESTABLISHED, LISTEN, UNCONNECTED
from simcloud.machine.network.path import Interface
from simcloud.machine.network.routing import DUAL, Endpoint

HASH_SECRET: Final = 8_641_969


class SocketInfo(Struct, frozen=True):
    """One line of ``ss``. A listener's queues are connections (waiting, allowed), others' are bytes."""

    transport: str
    state: str
    receive_queue: int
    send_queue: int
    local: Endpoint
    remote: Endpoint
    protocol: str = ""
    owner: object = None
    connection: Connection | None = None
    is_dual: bool = False
    """Whether the socket is one of IPv6 that also takes IPv4."""
    translated: Endpoint | None = None
    """The real remote end of a connection to a Service, where no ``connection`` knows it."""

    @property
    def is_ipv6(self) -> bool:
        """Whether the socket is one of IPv6, even if it serves IPv4."""
        return self.is_dual or ":" in self.local[0]

    @property
    def sort_key(self) -> tuple[object, ...]:
        """The order of the kernel's tables: by transport and family, then listeners, and each hashed by its ends."""
        ends = (self.local, self.remote)
        hashed = crc32(repr(ends).encode(), HASH_SECRET)
        return self.transport, self.is_ipv6, self.state != LISTEN, hashed, ends, self.state


FIRST_INTERFACE: Final = 1
"""The loopback interface has this number; the others follow."""


class InterfaceInfo(Struct, frozen=True):
    """One block of ``ip -s link``. Errors are packets that came in with a wrong checksum.

    ``peer`` is the number of the other end of a pair, ``netns`` the name of the namespace that has it.
    """

    name: str
    number: int
    address: str
    prefix_length: int
    is_up: bool
    received_bytes: int
    received_packets: int
    sent_bytes: int
    sent_packets: int
    receive_errors: int = 0
    receive_dropped: int = 0
    send_dropped: int = 0
    retransmits: int = 0
    peer: int = 0
    netns: str = ""


def of_listener(listener: Listener) -> SocketInfo:
    """A listener's line."""
    is_ipv4 = ":" not in listener.address
    local, anybody = (listener.address, listener.port), ("0.0.0.0" if is_ipv4 else listener.address, 0)
    queues = (listener.waiting, listener.backlog)
    dual = listener.address == DUAL
    return SocketInfo("tcp", LISTEN, *queues, local, anybody, listener.protocol, listener.owner, is_dual=dual)


def of_connection(connection: Connection) -> SocketInfo:
    """A connection's line."""
    return SocketInfo(
        "tcp",
        connection.state,
        connection.unread_bytes,
        connection.unacknowledged_bytes,
        connection.local,
        connection.remote,
        connection.protocol,
        connection.owner,
        connection,
        connection.listener is not None and connection.listener.address == DUAL,
    )


def of_datagram_socket(socket: DatagramSocket) -> SocketInfo:
    """A datagram socket's line."""
    state = UNCONNECTED if socket.peer is None else ESTABLISHED
    local, remote = (socket.address, socket.port), socket.peer or (socket.address, 0)
    return SocketInfo("udp", state, socket.unread_bytes, 0, local, remote, socket.protocol, socket.owner)


class RuleLine(NamedTuple):
    """A rule in the words of ``iptables-save``; without them it only declares its chain."""

    chain: str
    spec: str = ""
    packets: int = 0
    bytes: int = 0


NODE_PORT: Final = "node port "


class NodeNetworking(Protocol):
    """What a cluster adds to the network of its machines, computed when a tool asks for it."""

    def is_node(self, machine: str) -> bool:
        """Whether the rules of Services hold on a machine."""

    def routes(self, machine: str) -> list[tuple[str, str]]:
        """Networks behind other machines, each with the address of its gateway."""

    def rules(self, machine: str) -> dict[str, list[RuleLine]]:
        """The rules of each table."""

    def list_isolated(self, machine: str) -> list[str]:
        """The addresses of pods on a machine that a NetworkPolicy selects."""

    def service_uses(self) -> dict[str, dict[str, int]]:
        """The connections to each Service by machine; names of ports of nodes begin with ``NODE_PORT``."""

    def sockets(self, namespace: Interface) -> list[SocketInfo]:
        """Connections of system components that are not simulated as messages."""


def host_interface(address: str) -> int:
    """The number of a machine's own interface, one of a pair whose other end is on the host of all machines."""
    return 2 * int(address.rpartition(".")[2]) + 7


def is_host(namespace: Interface) -> bool:
    """Whether this is the namespace of a machine itself."""
    return namespace.name == namespace.machine


def prefix_length_of(address: str) -> int:
    """The size of the network that an address belongs to: container engines give their networks 16 bits."""
    return 16 if address.startswith("172.") else 24


def gateway_of(address: str) -> str:
    """The address of a pod's machine on the pod's own link."""
    return f"{address.rpartition('.')[0]}.1"


def pair_name(namespace: Interface) -> str:
    """The name of a namespace's interface on its machine."""
    identity = f"{namespace.name} {namespace.address} {namespace.number}"
    return f"veth{sha256(identity.encode()).hexdigest()[:8]}"


def interfaces_of(namespace: Interface) -> list[InterfaceInfo]:
    """The loopback and the outside interface; on a machine, also the pairs that lead into its namespaces."""
    loop = namespace.network.path(namespace, namespace)
    loopback = InterfaceInfo(
        name="lo",
        number=FIRST_INTERFACE,
        address="127.0.0.1",
        prefix_length=8,
        is_up=True,
        received_bytes=loop.bytes,
        received_packets=loop.packets,
        sent_bytes=loop.bytes,
        sent_packets=loop.packets,
        retransmits=loop.retransmits,
    )
    found = [loopback, outside_interface(namespace)]
    if is_host(namespace):
        others = namespace.network.interfaces_on(namespace.machine)
        found += [_pair_into(other) for other in others if not is_host(other)]
    return sorted(found, key=lambda interface: interface.number)


def outside_interface(namespace: Interface) -> InterfaceInfo:
    """The interface to the rest of the network; through that of a machine goes what all its pods exchange with others."""
    host = is_host(namespace)
    card = namespace.network.machines[namespace.machine]
    counted = card if host else namespace
    sent, received = counted.sent, counted.received
    places = [(namespace.ingress, namespace.impairment)]
    places += [(card.ingress, card.impairment)] if host else []
    return InterfaceInfo(
        name="eth0",
        number=namespace.number if host else FIRST_INTERFACE + 1,
        peer=namespace.number + 1 if host else namespace.number,
        address=namespace.address,
        prefix_length=prefix_length_of(namespace.address),
        is_up=namespace.is_up,
        received_bytes=received.total("bytes") - received.total("lost_bytes"),
        received_packets=received.total("packets") - received.total("lost_packets"),
        receive_errors=sum(ingress.corrupted for ingress, _ in places),
        receive_dropped=sum(ingress.dropped for ingress, _ in places),
        sent_bytes=sent.total("bytes"),
        sent_packets=sent.total("packets"),
        send_dropped=sum(egress.dropped for _, egress in places),
        retransmits=sent.total("retransmits"),
    )


def _pair_into(namespace: Interface) -> InterfaceInfo:
    """A machine's end of the pair that leads into a pod: what the pod receives, it sends."""
    inside = outside_interface(namespace)
    return InterfaceInfo(
        name=pair_name(namespace),
        number=namespace.number,
        peer=inside.number,
        netns=namespace.netns,
        address=gateway_of(namespace.address),
        prefix_length=32,
        is_up=namespace.is_up,
        received_bytes=inside.sent_bytes,
        received_packets=inside.sent_packets,
        receive_dropped=inside.send_dropped,
        sent_bytes=inside.received_bytes,
        sent_packets=inside.received_packets,
        send_dropped=inside.receive_dropped,
    )

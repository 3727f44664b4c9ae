"""What ``ss``, ``netstat`` and ``ip`` show of a namespace."""

from __future__ import annotations

from dataclasses import dataclass

from simcloud.machine.network.connection import Connection
from simcloud.machine.network.datagram import DatagramSocket
from simcloud.machine.network.listener import Listener
from simcloud.machine.network.packets import ESTABLISHED, LISTEN, UNCONNECTED
from simcloud.machine.network.path import Interface
from simcloud.machine.network.routing import Endpoint


@dataclass(frozen=True, slots=True)
class SocketInfo:
    """One line of ``ss``. A listener's queues are connections (waiting, allowed), others' are bytes."""

    transport: str
    state: str
    receive_queue: int
    send_queue: int
    local: Endpoint
    remote: Endpoint
    protocol: str = ""
    owner: object = None

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Transport, then local and remote end: the same order every time."""
        return (self.transport, self.local[1], self.local[0], self.remote[1], self.remote[0], self.state)


@dataclass(frozen=True, slots=True)
class InterfaceInfo:
    """One block of ``ip -s link``. Errors are packets that came in with a wrong checksum."""

    name: str
    address: str
    is_up: bool
    received_bytes: int
    received_packets: int
    receive_errors: int
    receive_dropped: int
    sent_bytes: int
    sent_packets: int
    send_dropped: int
    retransmits: int


def of_listener(listener: Listener) -> SocketInfo:
    """A listener's line."""
    local, anybody = (listener.address, listener.port), (listener.address, 0)
    queues = (listener.waiting, listener.backlog)
    return SocketInfo("tcp", LISTEN, *queues, local, anybody, listener.protocol, listener.owner)


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
    )


def of_datagram_socket(socket: DatagramSocket) -> SocketInfo:
    """A datagram socket's line."""
    state = UNCONNECTED if socket.peer is None else ESTABLISHED
    local, remote = (socket.address, socket.port), socket.peer or (socket.address, 0)
    return SocketInfo("udp", state, socket.unread_bytes, 0, local, remote, socket.protocol, socket.owner)


def interfaces_of(namespace: Interface) -> list[InterfaceInfo]:
    """The loopback and the outside interface."""
    loop = namespace.network.path(namespace, namespace)
    loopback = InterfaceInfo(
        name="lo",
        address="127.0.0.1",
        is_up=True,
        received_bytes=loop.bytes,
        received_packets=loop.packets,
        receive_errors=0,
        receive_dropped=0,
        sent_bytes=loop.bytes,
        sent_packets=loop.packets,
        send_dropped=0,
        retransmits=loop.retransmits,
    )
    sent, received = namespace.sent, namespace.received
    outside = InterfaceInfo(
        name="eth0",
        address=namespace.address,
        is_up=namespace.is_up,
        received_bytes=received.total("bytes") - received.total("lost_bytes"),
        received_packets=received.total("packets") - received.total("lost_packets"),
        receive_errors=namespace.ingress.corrupted,
        receive_dropped=namespace.ingress.dropped,
        sent_bytes=sent.total("bytes"),
        sent_packets=sent.total("packets"),
        send_dropped=namespace.impairment.dropped,
        retransmits=sent.total("retransmits"),
    )
    return [loopback, outside]

"""Retransmission of lost packets by the kernels at both ends.

TCP delivers data in order: everything behind a lost packet waits until it was sent again and has arrived. The timing
is that of Linux: the first retransmission after 0.2 s, then twice as long each time up to 120 s; after 15
retransmissions (924.6 s) the connection fails with a time-out.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Protocol

from simcloud.machine.network.errors import ConnectionReset, ConnectionTimedOut, NetworkError
from simcloud.machine.network.packets import CLOSED, SYN_RECV, Packet
from simcloud.machine.network.path import Interface, Path
from simcloud.machine.network.routing import Endpoint

FIRST_TIMEOUT_S: Final = 0.2
LONGEST_TIMEOUT_S: Final = 120.0
REPEATS: Final = 15


class End(Protocol):
    """What repetition and probing need of one end of a connection."""

    inbound: Path
    outbound: Path
    local: Endpoint
    state: str
    closed: bool
    retransmits: int

    @property
    def namespace(self) -> Interface:
        """The namespace that this end belongs to."""

    @property
    def peer(self) -> End:
        """The other end."""

    def gets_through(self, packet: Packet) -> bool:
        """Whether neither the wire nor a filter on it swallows a packet that is due here."""

    def has_room_for(self, packet: Packet) -> bool:
        """Whether the packet can be taken now."""

    def close_gap(self, gap: Gap) -> None:
        """Take the missing packet and all that waited behind it, in order."""

    def fail(self, error: NetworkError) -> None:
        """End the connection for this reason."""


class Gap:
    """A packet that is missing at the receiver, and all that came behind it."""

    __slots__ = ("_receiver", "_repeats", "_timeout_s", "packets")

    def __init__(self, receiver: End, packet: Packet) -> None:
        self.packets = deque((packet,))
        self._receiver = receiver
        self._repeats = 0
        self._timeout_s = FIRST_TIMEOUT_S
        receiver.namespace.kernel.call_later(self._timeout_s, self._repeat)

    def _repeat(self, _argument: None) -> None:
        """A repeated packet is due at the receiver, or the sender's last timer ran out."""
        receiver, sender = self._receiver, self._receiver.peer
        if sender.state == CLOSED or sender.namespace.gone:
            self._give_up()
        elif self._repeats == REPEATS:
            self._give_up()
            sender.fail(ConnectionTimedOut())
        elif self._passes_now(sender):
            receiver.close_gap(self)
        elif host_was_replaced(receiver):
            self._give_up()
            sender.fail(ConnectionReset())
        else:
            self._timeout_s = min(2 * self._timeout_s, LONGEST_TIMEOUT_S)
            receiver.namespace.kernel.call_later(self._timeout_s, self._repeat)

    def _passes_now(self, sender: End) -> bool:
        packet, path = self.packets[0], self._receiver.inbound
        self._repeats += 1
        sender.retransmits += 1
        path.retransmits += 1
        path.launch(packet[1])
        return self._receiver.gets_through(packet) and self._receiver.has_room_for(packet)

    def _give_up(self) -> None:
        self.packets.clear()
        if self._receiver.state == SYN_RECV:
            self._receiver.fail(ConnectionTimedOut())


class Keepalive:
    """Probes on an idle connection: the only way to notice a peer that was lost in silence."""

    __slots__ = ("_connection", "_interval_s", "_probes", "_unanswered")

    def __init__(self, connection: End, interval_s: float, probes: int) -> None:
        self._connection = connection
        self._interval_s = interval_s
        self._probes = probes
        self._unanswered = 0
        connection.namespace.kernel.call_later(interval_s, self._probe)

    def _probe(self, _argument: None) -> None:
        connection = self._connection
        if connection.closed:
            return
        peer = connection.peer
        silent = connection.outbound.blocked or connection.inbound.blocked
        if host_was_replaced(peer) or (peer.state == CLOSED and not silent):
            connection.fail(ConnectionReset())
        elif self._unanswered == self._probes:
            connection.fail(ConnectionTimedOut())
        else:
            self._unanswered = self._unanswered + 1 if silent else 0
            connection.namespace.kernel.call_later(self._interval_s, self._probe)


def host_was_replaced(end: End) -> bool:
    """Whether the machine behind this end came back without its memory: it answers with a reset."""
    if not end.namespace.gone:
        return False
    network = end.namespace.network
    replacement = network.find(end.local[0])
    return replacement is not None and not network.path(end.peer.namespace, replacement).blocked

"""One end of a connection: ordered, reliable messages, as TCP gives them to a program.

``send`` never waits. It works out when the message arrives and leaves one timer with the kernel; on a
healthy path that is an addition. The receiving end hands the message to ``on_message`` or keeps it for
``receive``. What the wire did to the message is found out when it is due: a lost one leaves a ``Gap``
that is repaired by retransmission, and whatever arrives behind it waits, so order always holds.

Messages are Python objects that both ends share: nobody changes a message after sending it. There is
no half-close: an end that closes neither sends nor reads any more.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import coroutine
from typing import Any, Protocol

from simcloud.machine.network.errors import (
    BrokenPipe,
    Closed,
    ConnectionReset,
    ConnectionTimedOut,
    NetworkError,
    NoBufferSpace,
    ProtocolMismatch,
)
from simcloud.machine.network.packet_filter import ACCEPT, Packet as FilteredPacket, Ways
from simcloud.machine.network.packets import (
    BUFFER_BYTES,
    CLOSE_WAIT,
    CLOSED,
    CONTROL_BYTES,
    ESTABLISHED,
    FIN,
    FIN_WAIT,
    LAST_ACK,
    MESSAGE_BYTES,
    OPEN,
    SYN_RECV,
    SYN_SENT,
    TIME_WAIT,
    UNTYPED,
    WINDOW_BYTES,
    Packet,
)
from simcloud.machine.network.path import Fabric, Interface, Path, Sighting
from simcloud.machine.network.receive_buffer import Reading
from simcloud.machine.network.retransmission import FIRST_TIMEOUT_S, LONGEST_TIMEOUT_S, Gap, Keepalive
from simcloud.machine.network.routing import Endpoint
from simcloud.machine.network.waiters import wait_in, wake_all


class Acceptor(Protocol):
    """What a connection needs of the listener that takes it."""

    address: str
    protocol: str
    owner: object
    closed: bool
    certificate: bytes
    on_mismatch: Callable[[str], None] | None

    @property
    def is_full(self) -> bool:
        """Whether no more connections may wait to be accepted."""

    def get_certificate(self, server_name: str) -> bytes:
        """Return the certificates shown to a client that asks for a name."""

    def admit(self, connection: Connection) -> None:
        """Hand over an established connection."""


class ConnectionNetwork(Fabric, Protocol):
    """A network whose namespaces have connections."""

    def find(self, address: str) -> ConnectionNamespace | None:
        """Return the namespace that has this address, or None."""


class ConnectionNamespace(Interface, Protocol):
    """What a connection needs of its namespace."""

    @property
    def network(self) -> ConnectionNetwork:
        """The network that the namespace belongs to."""

    def listener_at(self, address: str, port: int) -> Acceptor | None:
        """Return the listener for this address and port, or None."""

    def add_connection(self, connection: Connection) -> None:
        """Register a connection that has begun."""

    def free_remote_port(self, local: Endpoint, address: str, port: int) -> int:
        """A port of a masquerading machine that no connection with this local end uses."""

    def drop_connection(self, connection: Connection, lingers_as: str | None = None) -> None:
        """Forget a connection that is over for its program."""


class Connection(Reading):
    """One end of a connection: it sends, and answers for what arrives."""

    __slots__ = (
        "_clear", "_gap", "_last_arrival", "_peer_deliver", "_sendable", "bytes_sent", "inbound", "listener",
        "local", "namespace", "opened_at", "outbound", "owner", "protocol", "remote", "retransmits", "state",
    )  # fmt: skip

    namespace: ConnectionNamespace
    peer: Connection
    inbound: Path
    outbound: Path
    _peer_deliver: Callable[[Packet], None]

    def __init__(
        self,
        namespace: ConnectionNamespace,
        local: Endpoint,
        remote: Endpoint,
        protocol: str,
        *,
        owner: object,
        listener: Acceptor | None = None,
    ) -> None:
        super().__init__(namespace.kernel)
        self.namespace = namespace
        self.local = local
        self.remote = remote
        self.protocol = protocol
        self.owner = owner
        self.listener = listener
        self.state: str = SYN_SENT if listener is None else SYN_RECV
        self.opened_at = namespace.kernel.now
        self.bytes_sent = 0
        self.retransmits = 0
        self._gap: Gap | None = None
        self._last_arrival = 0.0
        # The two flags of the fast path: may send at once; may hand on what arrives at once.
        self._sendable = False
        self._clear = False

    def __repr__(self) -> str:
        local, remote = self.local, self.remote
        return f"<Connection {self.state} {local[0]}:{local[1]} {remote[0]}:{remote[1]} {self.protocol}>"

    # -- what programs use ---------------------------------------------------------------------

    def send(self, message: Any, size_bytes: int = MESSAGE_BYTES) -> None:
        """Send a message. It never waits; that the peer is gone shows later, as it does in life.

        Raises ``ConnectionReset`` or ``ConnectionTimedOut`` when that is already known,
        ``BrokenPipe`` from then on, ``Closed`` after this end was closed, ``NoBufferSpace`` when the
        peer reads nothing and far too much is under way already.
        """
        path = self.outbound
        kernel = self._kernel
        if self._sendable and path.healthy:
            arrival = kernel.now + path.draw_delay_s() if path.noise else kernel.now + path.delay_s
        else:
            self._check_sendable()
            arrival = path.arrival(size_bytes)
            self.show(True, "P.", size_bytes)
        if self.bytes_sent - self.peer.bytes_read > BUFFER_BYTES:
            raise NoBufferSpace
        if arrival < self._last_arrival:
            arrival = self._last_arrival
        else:
            self._last_arrival = arrival
        self.bytes_sent += size_bytes
        path.packets += 1
        path.bytes += size_bytes
        kernel.call_at(arrival, self._peer_deliver, (message, size_bytes))

    @coroutine
    def drain(self) -> Generator[float | None, Any, None]:
        """Wait until the peer has read all but a window's worth of what was sent: for long streams."""
        while self._error is None and self.bytes_sent - self.peer.bytes_read > WINDOW_BYTES:
            if self._last_arrival > self._kernel.now:
                yield self._last_arrival - self._kernel.now
            else:
                yield from wait_in(self._writers, self._kernel, None, "room")

    def close(self) -> None:
        """Hang up: the peer reads what is under way, then sees the end.

        With messages left unread here, the peer is reset instead, as Linux does.
        """
        if self._hung_up:
            return
        state = self.state
        if self._inbox or state == SYN_RECV:
            self.reset()
        elif state == ESTABLISHED:
            self._send_control(self.peer.arrive, FIN)
            self._hang_up(FIN_WAIT)
            self.namespace.drop_connection(self, FIN_WAIT)
        else:
            if state == CLOSE_WAIT:
                self._send_control(self.peer.arrive, FIN)
            self._hang_up(LAST_ACK if state in (CLOSE_WAIT, LAST_ACK) else CLOSED)
            self.namespace.drop_connection(self)

    def reset(self) -> None:
        """Hang up at once: the peer sees ``ConnectionReset``."""
        if self._hung_up:
            return
        if self.state not in (SYN_SENT, CLOSED):
            self._send_control(self.peer.reset_arrives, None)
        self._hang_up(CLOSED)
        self.namespace.drop_connection(self)

    def keepalive(self, interval_s: float = 75.0, probes: int = 9) -> None:
        """Probe the peer at intervals, so that its silent loss is noticed without sending data.

        After ``probes`` probes without an answer the connection fails with ``ConnectionTimedOut``.
        """
        Keepalive(self, interval_s, probes)

    @property
    def unacknowledged_bytes(self) -> int:
        """What was sent and did not arrive yet."""
        return self.bytes_sent - self.peer.bytes_received if self.state != SYN_SENT else 0

    # -- called by the peer, the handshake and the retransmission ------------------------------

    def show(self, is_outgoing: bool, flags: str, length: int = 0) -> None:
        """Let taps see a packet at this end, before it is counted."""
        for tap in self.namespace.network.taps:
            ends, counts = (self.local, self.remote), (self.bytes_sent, self.bytes_received)
            if not is_outgoing:
                ends, counts = ends[::-1], counts[::-1]
            tap(Sighting(self.namespace, is_outgoing, ends, flags, length, counts))

    def join(self, peer: Connection, outbound: Path, inbound: Path) -> None:
        """Become one end of a pair."""
        self.peer = peer
        self.outbound = outbound
        self.inbound = inbound
        self._peer_deliver = peer.deliver

    def establish(self) -> None:
        """The handshake is done as far as this end can see."""
        self.state = ESTABLISHED
        self.opened_at = self._kernel.now
        self._sendable = True
        self._clear = self._understands_peer()
        if self.listener is None:
            self._send_control(self.peer.arrive, OPEN)
        wake_all(self._readers)

    @coroutine
    def wait_open(self) -> Generator[float | None, Any, None]:
        """Wait for the end of the handshake; raises why there was none."""
        while self.state == SYN_SENT:
            yield from wait_in(self._readers, self._kernel, None, "answer")
        if self._error is not None:
            self._error_reported = True
            raise self._error.with_traceback(None)

    def deliver(self, packet: Packet) -> None:
        """A message is due here. This is the hot path; anything unusual goes to ``arrive``."""
        if self._clear and self.inbound.healthy:
            on_message = self._on_message
            if on_message is not None:
                self.bytes_read += packet[1]
                on_message(packet[0])
            else:
                self._keep(packet)
        else:
            self.arrive(packet)

    def arrive(self, packet: Packet) -> None:
        """Any packet is due here: does it get through, and is it its turn?"""
        if self._gap is not None:
            self._gap.packets.append(packet)
        elif self.gets_through(packet) and self.has_room_for(packet):
            is_data = packet is not OPEN and packet is not FIN
            self.show(False, "P." if is_data else _flags_of(packet), packet[1] if is_data else 0)
            self.take(packet)
        else:
            self._gap = Gap(self, packet)
            self._clear = False

    def gets_through(self, packet: Packet) -> bool:
        """Whether neither the wire nor a filter on it swallows a packet that is due here."""
        path = self.inbound
        return path.passes(packet[1]) and (path.filters is None or self._is_let_pass(path.filters, packet[1]))

    def _is_let_pass(self, filters: Ways, size_bytes: int) -> bool:
        peer = self.peer
        sent = FilteredPacket("tcp", peer.local, peer.remote, size_bytes, new=False)
        got = FilteredPacket("tcp", self.remote, self.local, size_bytes, new=False)
        real = FilteredPacket("tcp", peer.local, self.local, size_bytes, new=False)
        return filters.verdict(sent, real, got) == ACCEPT

    def has_room_for(self, packet: Packet) -> bool:
        """A new connection waits outside while the listener's queue is full."""
        return packet is not OPEN or self.listener is None or not self.listener.is_full

    def close_gap(self, gap: Gap) -> None:
        """What was missing has come: take all that waited behind it, in order."""
        self._gap = None
        while gap.packets:
            self.take(gap.packets.popleft())
        wake_all(self.peer._writers)

    def take(self, packet: Packet) -> None:
        """A packet has come through in its turn: what is it, and is anybody there to take it?"""
        message, size_bytes = packet
        if packet is FIN:
            self._peer_hung_up()
        elif packet is OPEN:
            self._be_accepted()
        elif message.__class__ is ProtocolMismatch:
            self.fail(message)
        elif self._hung_up or self.state != ESTABLISHED:
            self._send_control(self.peer.reset_arrives, FIRST_TIMEOUT_S)
        elif not self._clear and not self._understands_peer():
            self._misunderstand()
        else:
            self._clear = True
            if self._on_message is not None:
                self.bytes_read += size_bytes
                self._on_message(message)
            else:
                self._keep(packet)

    def reset_arrives(self, repeat_s: float | None) -> None:
        """The peer's kernel says that there is no such connection (any more).

        If that is lost, it is said again only when it answers a packet that this end will repeat.
        """
        if self.state == CLOSED:
            return
        if self.inbound.passes(CONTROL_BYTES):
            self.show(False, "R")
            self.fail(ConnectionReset())
        elif repeat_s is not None and repeat_s > LONGEST_TIMEOUT_S:
            self.fail(ConnectionTimedOut())
        elif repeat_s is not None:
            self._kernel.call_later(repeat_s, self.reset_arrives, 2 * repeat_s)

    def fail(self, error: NetworkError, state: str = CLOSED) -> None:
        """The connection is over, and this is why. An end known before stays what readers see."""
        if self.state == CLOSED:
            return
        self.state = state
        self.closed = True
        self._sendable = self._clear = False
        self.namespace.drop_connection(self)
        if self._error is None:
            self._error = error
            self._tell()
        else:
            self._error_reported = True

    def vanish(self) -> None:
        """End without notice to either side: the machine is lost."""
        self._hang_up(CLOSED)

    # -- inside --------------------------------------------------------------------------------

    def _check_sendable(self) -> None:
        if self._sendable:
            return
        if self._hung_up:
            raise Closed
        if self._error is not None and not self._error_reported:
            self._error_reported = True
            raise self._error.with_traceback(None)
        raise BrokenPipe

    def _send_control(self, arrives: Callable[[Any], None], argument: Any) -> None:
        self.show(True, _flags_of(argument))
        arrival = max(self.outbound.launch(CONTROL_BYTES), self._last_arrival)
        self._last_arrival = arrival
        self._kernel.call_at(arrival, arrives, argument)

    def _understands_peer(self) -> bool:
        spoken, expected = self.peer.protocol, self.protocol
        return spoken == expected or expected in UNTYPED

    def _misunderstand(self) -> None:
        """The first message is in a protocol this end does not speak: both ends learn it."""
        client = self if self.listener is None else self.peer
        error = ProtocolMismatch(client.protocol, client.peer.protocol)
        if self.listener is None:
            self.fail(error)
            self._send_control(self.peer.reset_arrives, None)
            return
        self._send_control(self.peer.arrive, (error, CONTROL_BYTES))
        self.fail(ProtocolMismatch(error.spoken, error.expected), LAST_ACK)
        if self.listener.on_mismatch is not None:
            self.listener.on_mismatch(error.spoken)

    def _be_accepted(self) -> None:
        listener = self.listener
        assert listener is not None
        if self.state != SYN_RECV:
            return
        if listener.closed:
            self.reset()
        else:
            self.establish()
            listener.admit(self)

    def _peer_hung_up(self) -> None:
        if self.state == ESTABLISHED:
            self.state = CLOSE_WAIT
            self.closed = True
            self._clear = False
            self._error = Closed()
            self._tell()
        elif self.state == FIN_WAIT:
            self.state = CLOSED
            self.namespace.drop_connection(self, TIME_WAIT)

    def _hang_up(self, state: str) -> None:
        """End this side: ignore later packets and wake the tasks that wait here."""
        self.state = state
        self._hung_up = self.closed = True
        self._sendable = self._clear = False
        self._on_message = self._on_close = None
        self._inbox.clear()
        self._error = Closed()
        wake_all(self._readers)
        wake_all(self._writers)


def _flags_of(control: object) -> str:
    return "F." if control is FIN else "." if control is OPEN else "R"

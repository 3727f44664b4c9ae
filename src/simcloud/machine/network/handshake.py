"""How a connection comes about: SYN, the answer, and what happens when there is none.

It takes one round trip. Without an answer the SYN is repeated after 1, 2, 4, … s, and after 127 s the
attempt times out. When nobody answers for the address at all, the last hop says so after three tries
of its own (3.06 s).
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.network.connection import Acceptor, Connection, ConnectionNamespace
from simcloud.machine.network.errors import ConnectionRefused, ConnectTimedOut, HostUnreachable
from simcloud.machine.network.link import LOCAL_DELAY_S
from simcloud.machine.network.packet_filter import ACCEPT, REJECT, Packet
from simcloud.machine.network.packets import CONTROL_BYTES, SYN_SENT
from simcloud.machine.network.routing import Route, Verdict, is_loopback
from simcloud.sim import Timer

SYN_TIMEOUT_S: Final = 1.0
SYN_PACKETS: Final = 7
ARP_TIMEOUT_S: Final = 3.06


class Handshake:
    """One attempt to connect. The outcome shows in the state of its connection."""

    __slots__ = ("_connection", "_kernel", "_packets", "_route", "_timer")

    def __init__(self, connection: Connection, route: Route) -> None:
        self._connection = connection
        self._kernel = connection.namespace.kernel
        self._route = route
        self._packets = 0
        self._timer: Timer | None = None
        if route.verdict is Verdict.REFUSE:
            self._kernel.call_later(LOCAL_DELAY_S, self._refuse)
        elif route.verdict is Verdict.UNREACHABLE:
            self._kernel.call_later(LOCAL_DELAY_S, self._unreachable)
        else:
            self._send_syn(None)

    def _send_syn(self, _argument: None) -> None:
        connection = self._connection
        if connection.state != SYN_SENT:
            return
        if self._packets == SYN_PACKETS:
            connection.fail(ConnectTimedOut())
            return
        self._timer = self._kernel.call_later(SYN_TIMEOUT_S * 2**self._packets, self._send_syn)
        self._packets += 1
        if self._route.verdict is Verdict.DROP:
            return
        target = self._target()
        if target is None:
            self._kernel.call_later(ARP_TIMEOUT_S, self._unreachable)
            return
        path = connection.namespace.network.path(connection.namespace, target)
        self._kernel.call_at(path.launch(CONTROL_BYTES), self._syn_arrives, target)

    def _target(self) -> ConnectionNamespace | None:
        """Return the namespace that has the address, or None."""
        source, address = self._connection.namespace, self._route.address
        return source if is_loopback(address) else source.network.find(address)

    def _syn_arrives(self, target: ConnectionNamespace) -> None:
        source = self._connection.namespace
        if self._connection.state != SYN_SENT or not source.network.path(source, target).passes(
            CONTROL_BYTES
        ):
            return
        verdict = self._apply_filters(target)
        if verdict != ACCEPT:
            if verdict == REJECT:
                self._kernel.call_at(
                    source.network.path(target, source).launch(CONTROL_BYTES),
                    self._answer_arrives,
                    (target, None),
                )
            return
        listener = target.listener_at(self._route.address, self._route.port)
        if listener is not None and listener.is_full:
            return
        answer_at = source.network.path(target, source).launch(CONTROL_BYTES)
        self._kernel.call_at(answer_at, self._answer_arrives, (target, listener))

    def _apply_filters(self, target: ConnectionNamespace) -> str:
        """Return the verdict of the filters on the path about the first packet."""
        client = self._connection
        filters = client.namespace.network.path(client.namespace, target).filters
        if filters is None:
            return ACCEPT
        sent = Packet("tcp", client.local, client.remote, CONTROL_BYTES, new=True)
        real = Packet("tcp", client.local, (self._route.address, self._route.port), CONTROL_BYTES, new=True)
        return filters.verdict(sent, real, real)

    def _answer_passes(self, target: ConnectionNamespace) -> bool:
        """Whether the filters on the way back let the answer pass."""
        client = self._connection
        filters = client.namespace.network.path(target, client.namespace).filters
        if filters is None:
            return True
        sent = Packet("tcp", (self._route.address, self._route.port), client.local, CONTROL_BYTES, new=False)
        got = Packet("tcp", client.remote, client.local, CONTROL_BYTES, new=False)
        return filters.verdict(sent, sent, got) == ACCEPT

    def _answer_arrives(self, answer: tuple[ConnectionNamespace, Acceptor | None]) -> None:
        target, listener = answer
        client = self._connection
        source, network = client.namespace, client.namespace.network
        inbound = network.path(target, source)
        if client.state != SYN_SENT or not (inbound.passes(CONTROL_BYTES) and self._answer_passes(target)):
            return
        if self._timer is not None:
            self._timer.cancel()
        if listener is None:
            self._refuse(None)
            return
        outbound = network.path(source, target)
        server = Connection(
            target,
            local=(self._route.address, self._route.port),
            remote=client.local,
            protocol=listener.protocol,
            owner=listener.owner,
            listener=listener,
        )
        client.join(server, outbound, inbound)
        server.join(client, inbound, outbound)
        target.add_connection(server)
        client.establish()

    def _refuse(self, _argument: None) -> None:
        self._connection.fail(ConnectionRefused())

    def _unreachable(self, _argument: None) -> None:
        if self._connection.state == SYN_SENT:
            self._connection.fail(HostUnreachable())

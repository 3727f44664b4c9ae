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
from simcloud.machine.network.path import Sighting
from simcloud.machine.network.routing import Endpoint, Route, Verdict, is_loopback
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
            connection.show(True, "S")
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
        connection.show(True, "S")
        if self._route.verdict is Verdict.DROP:
            return
        target = self._target()
        if target is None:
            self._kernel.call_later(ARP_TIMEOUT_S, self._unreachable)
            return
        path = connection.namespace.network.path(connection.namespace, target, self._route.via)
        self._kernel.call_at(path.launch(CONTROL_BYTES), self._syn_arrives, target)

    def _target(self) -> ConnectionNamespace | None:
        """Return the namespace that has the address, or None."""
        source, address = self._connection.namespace, self._route.address
        return source if is_loopback(address) else source.network.find(address)

    def _syn_arrives(self, target: ConnectionNamespace) -> None:
        source = self._connection.namespace
        if self._connection.state != SYN_SENT or not source.network.path(
            source, target, self._route.via
        ).passes(CONTROL_BYTES):
            return
        self._show(target, False, "S")
        verdict = self._apply_filters(target)
        if verdict != ACCEPT:
            if verdict == REJECT:
                self._kernel.call_at(
                    source.network.path(target, source, self._route.via).launch(CONTROL_BYTES),
                    self._answer_arrives,
                    (target, None),
                )
            return
        listener = target.listener_at(self._route.address, self._route.port)
        if listener is not None and listener.is_full:
            return
        self._show(target, True, "S." if listener is not None else "R.")
        answer_at = source.network.path(target, source, self._route.via).launch(CONTROL_BYTES)
        self._kernel.call_at(answer_at, self._answer_arrives, (target, listener))

    def _apply_filters(self, target: ConnectionNamespace) -> str:
        """Return the verdict of the filters on the path about the first packet."""
        client = self._connection
        filters = client.namespace.network.path(client.namespace, target, self._route.via).filters
        if filters is None:
            return ACCEPT
        sent = Packet("tcp", client.local, client.remote, CONTROL_BYTES, new=True)
        real = Packet("tcp", client.local, (self._route.address, self._route.port), CONTROL_BYTES, new=True)
        return filters.verdict(sent, real, real)

    def _answer_passes(self, target: ConnectionNamespace) -> bool:
        """Whether the filters on the way back let the answer pass."""
        client = self._connection
        filters = client.namespace.network.path(target, client.namespace, self._route.via).filters
        if filters is None:
            return True
        sent = Packet("tcp", (self._route.address, self._route.port), client.local, CONTROL_BYTES, new=False)
        got = Packet("tcp", client.remote, client.local, CONTROL_BYTES, new=False)
        return filters.verdict(sent, sent, got) == ACCEPT

    def _answer_arrives(self, answer: tuple[ConnectionNamespace, Acceptor | None]) -> None:
        target, listener = answer
        client = self._connection
        source, network = client.namespace, client.namespace.network
        inbound = network.path(target, source, self._route.via)
        if client.state != SYN_SENT or not (inbound.passes(CONTROL_BYTES) and self._answer_passes(target)):
            return
        if self._timer is not None:
            self._timer.cancel()
        client.show(False, "S." if listener is not None else "R.")
        if listener is None:
            self._refuse(None)
            return
        outbound = network.path(source, target, self._route.via)
        local, remote = (self._route.address, self._route.port), self._source_at(target)
        server = Connection(
            target,
            local=local,
            remote=remote,
            protocol=listener.protocol,
            owner=listener.owner,
            listener=listener,
        )
        client.join(server, outbound, inbound)
        server.join(client, inbound, outbound)
        target.add_connection(server)
        client.establish()

    def _source_at(self, target: ConnectionNamespace) -> Endpoint:
        """The client's end as the target sees it."""
        local, masquerade = self._connection.local, self._route.source
        if not masquerade:
            return local
        here = (self._route.address, self._route.port)
        return masquerade, target.free_remote_port(here, masquerade, local[1])

    def _show(self, target: ConnectionNamespace, is_outgoing: bool, flags: str) -> None:
        """Let taps see a packet at the target, which has no connection yet."""
        for tap in target.network.taps:
            ends = (self._source_at(target), (self._route.address, self._route.port))
            tap(Sighting(target, is_outgoing, ends[::-1] if is_outgoing else ends, flags))

    def _refuse(self, _argument: None) -> None:
        self._connection.fail(ConnectionRefused())

    def _unreachable(self, _argument: None) -> None:
        if self._connection.state == SYN_SENT:
            self._connection.fail(HostUnreachable())

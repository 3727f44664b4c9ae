"""Whether a connection would come about now, without packets: for programs that connect to many others at regular times."""

from __future__ import annotations

from typing import Final

from simcloud.machine.network.errors import (
    ConnectionRefused,
    ConnectTimedOut,
    HostUnreachable,
    NetworkUnreachable,
)
from simcloud.machine.network.listener import Listener
from simcloud.machine.network.namespace import Namespace
from simcloud.machine.network.packet_filter import ACCEPT, REJECT, Packet
from simcloud.machine.network.packets import CONTROL_BYTES
from simcloud.machine.network.routing import Verdict, is_loopback

ANY_PORT: Final = 40_000
"""An ephemeral port, as the source of the first packet that filters are asked about."""


def find_listener(source: Namespace, address: str, port: int) -> Listener:
    """Return the listener that a connection from ``source`` would reach; raise the error that it would end with.

    Routes, policies, packet filters and broken links are asked; a lossy link counts as open, because packets are repeated.
    """
    if source.gone or not (source.is_up or is_loopback(address)):
        raise NetworkUnreachable
    route = source.network.router.route(source, address, port, "tcp")
    if route.verdict is Verdict.REFUSE:
        raise ConnectionRefused
    if route.verdict is Verdict.UNREACHABLE:
        raise HostUnreachable
    if route.verdict is Verdict.DROP:
        raise ConnectTimedOut
    target = source if is_loopback(route.address) else source.network.find(route.address)
    if target is None:
        raise HostUnreachable
    there, back = source.network.path(source, target), source.network.path(target, source)
    if there.blocked or back.blocked:
        raise ConnectTimedOut
    local, real = (source.address, ANY_PORT), (route.address, route.port)
    if there.filters is not None:
        sent = Packet("tcp", local, (address, port), CONTROL_BYTES, new=True)
        passed = Packet("tcp", local, real, CONTROL_BYTES, new=True)
        verdict = there.filters.foresee(sent, passed, passed)
        if verdict != ACCEPT:
            raise ConnectionRefused if verdict == REJECT else ConnectTimedOut
    if back.filters is not None:
        answer = Packet("tcp", real, local, CONTROL_BYTES, new=False)
        received = Packet("tcp", (address, port), local, CONTROL_BYTES, new=False)
        if back.filters.foresee(answer, answer, received) != ACCEPT:
            raise ConnectTimedOut
    listener = target.listener_at(route.address, route.port)
    if listener is None:
        raise ConnectionRefused
    if listener.is_full:
        raise ConnectTimedOut
    return listener

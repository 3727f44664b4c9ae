"""The datagrams that kernels track: who asked whom lately, and whether there was an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from simcloud.machine.network.routing import Endpoint

FORGET_S: Final = 30.0
STREAM_S: Final = 120.0
"""How long a flow is remembered after its last datagram: a single exchange, and one that has lasted."""
STREAM_BEGINS_S: Final = 2.0
MOST: Final = 4096
"""Beyond this number of flows the oldest are forgotten at once."""


class DatagramFlow(NamedTuple):
    """Datagrams between two ports: the address that was asked, the one that it led to, and times."""

    source: Endpoint
    asked: Endpoint
    real: Endpoint
    began_at: float
    latest_at: float
    is_answered: bool

    @property
    def is_stream(self) -> bool:
        """Whether answers came for some time."""
        return self.is_answered and self.latest_at - self.began_at > STREAM_BEGINS_S

    @property
    def forgotten_at(self) -> float:
        """When kernels forget it, unless it goes on."""
        return self.latest_at + (STREAM_S if self.is_stream else FORGET_S)


class DatagramFlows:
    """The flows of a network, those used last at the end."""

    def __init__(self) -> None:
        self._flows: dict[tuple[Endpoint, Endpoint], DatagramFlow] = {}

    def add(self, now: float, source: Endpoint, asked: Endpoint, real: Endpoint) -> None:
        """A datagram was sent: it begins a flow, continues it or answers it."""
        asker = self._flows.pop((real, source), None)
        if asker is not None and asker.forgotten_at > now:
            self._flows[real, source] = asker._replace(latest_at=now, is_answered=True)
            return
        known = self._flows.pop((source, real), None)
        if known is None or known.forgotten_at <= now:
            known = DatagramFlow(source, asked, real, now, now, False)
        self._flows[source, real] = known._replace(latest_at=now)
        if len(self._flows) > MOST:
            del self._flows[next(iter(self._flows))]

    def list_tracked(self, now: float) -> Iterator[DatagramFlow]:
        """Yield the flows that are remembered."""
        return (flow for flow in self._flows.values() if flow.forgotten_at > now)

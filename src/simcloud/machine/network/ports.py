"""Which ports are taken: by sockets that are open, and by connections that ended a moment ago."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar
from zlib import crc32

from simcloud.machine.network.errors import AddressNotAvailable
from simcloud.machine.network.routing import WILDCARDS, Endpoint

PORTS: Final = range(65_536)
EPHEMERAL_PORTS: Final = range(32_768, 61_000)

LINGER_S: Final = 60.0
"""How long a connection is remembered after this end hung up (FIN-WAIT-2, TIME-WAIT)."""

LINGERING: Final = 16_384
"""How many of those are remembered; beyond it the oldest is forgotten early, as Linux does."""

Pair = tuple[Endpoint, Endpoint]
"""The local and the remote end of a connection."""

Socket = TypeVar("Socket")


def is_taken(bound: Mapping[Endpoint, object], address: str, port: int) -> bool:
    """A wildcard is in the way of every address, and every address in the way of a wildcard."""
    if address in WILDCARDS:
        return any(taken_port == port for _, taken_port in bound)
    return find_bound(bound, address, port) is not None


def find_bound(bound: Mapping[Endpoint, Socket], address: str, port: int) -> Socket | None:
    """Return the socket that is bound to this address and port, or None."""
    for candidate in (address, *WILDCARDS):
        socket = bound.get((candidate, port))
        if socket is not None:
            return socket
    return None


class EphemeralPorts:
    """Chooses ports as Linux does: from a hash of the destination on, even ones for connections and odd ones for others."""

    __slots__ = ("_given", "_secret")

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._given = 0

    def take(self, is_taken: Callable[[int], bool], remote: Endpoint | None = None) -> int:
        """Return a free port for a connection to ``remote``, or for a socket without a peer."""
        hashed = crc32(f"{self._secret} {remote}".encode())
        self._given += 1 + (hashed >> self._given % 24) % 8
        count = len(EPHEMERAL_PORTS)
        first = 2 * (hashed + self._given) + (remote is None)
        for step in range(count):
            port = EPHEMERAL_PORTS[(first + 2 * step + (2 * step >= count)) % count]
            if not is_taken(port):
                self._given += step
                return port
        raise AddressNotAvailable


class Lingering:
    """Connections that this end hung up, and that the kernel still remembers for a minute."""

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        # Not a plain dict: that one walks over all it once held to find its oldest entry.
        self._pairs: OrderedDict[Pair, tuple[str, float, Pair]] = OrderedDict()

    def __contains__(self, pair: Pair) -> bool:
        return pair in self._pairs

    def add(self, pair: Pair, state: str, now: float, peer: Pair) -> None:
        """Remember one, in this state, from now on; ``peer`` are the ends as the other side saw them."""
        self._pairs.pop(pair, None)
        self._pairs[pair] = (state, now + LINGER_S, peer)
        if len(self._pairs) > LINGERING:
            self._pairs.popitem(last=False)

    def discard(self, pair: Pair) -> None:
        """Forget one at once."""
        self._pairs.pop(pair, None)

    def clear(self) -> None:
        """Forget all."""
        self._pairs.clear()

    def expire(self, now: float) -> None:
        """Forget those whose time is over; they all have the same, so the oldest stand first."""
        while self._pairs:
            pair = next(iter(self._pairs))
            if self._pairs[pair][1] > now:
                return
            del self._pairs[pair]

    def states(self) -> Iterator[tuple[Pair, str, Pair]]:
        """What is remembered."""
        return ((pair, state, peer) for pair, (state, _, peer) in self._pairs.items())

"""Where an address leads, and what a name means: interfaces that the cluster fills in later.

A ``Router`` stands where the packet filter of a machine stands: it may send a connection elsewhere (a
Service's address), refuse it, swallow it (a network policy), or say that nothing is there. It is asked
once for each connection and for each datagram. A ``Resolver`` turns names into addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, Protocol

from simcloud.machine.network.errors import NameNotFound

if TYPE_CHECKING:
    from simcloud.machine.network.namespace import Namespace

Endpoint = tuple[str, int]
"""An address and a port."""

WILDCARDS: Final = ("0.0.0.0", "::")
"""Listening here is listening on every address of the namespace."""


class Verdict(Enum):
    """What becomes of a packet."""

    DELIVER = "deliver"
    REFUSE = "refuse"
    DROP = "drop"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Route:
    """A router's answer; address and port matter only for what is delivered."""

    verdict: Verdict
    address: str = ""
    port: int = 0

    @classmethod
    def deliver(cls, address: str, port: int) -> Route:
        """Take it there."""
        return cls(Verdict.DELIVER, address, port)


REFUSE: Final = Route(Verdict.REFUSE)
DROP: Final = Route(Verdict.DROP)
UNREACHABLE: Final = Route(Verdict.UNREACHABLE)


class Router(Protocol):
    """Decides where packets go."""

    def route(self, source: Namespace, address: str, port: int, transport: str) -> Route:
        """Where a packet from ``source`` goes; transport is "tcp", "udp" or "icmp" (then port is 0)."""
        ...


class PlainRouter:
    """Everything goes where it is addressed."""

    def route(self, source: Namespace, address: str, port: int, transport: str) -> Route:
        """Deliver as it is."""
        return Route.deliver(address, port)


class Resolver(Protocol):
    """Turns names into addresses."""

    async def resolve(self, namespace: Namespace, name: str) -> list[str]:
        """The addresses of a name, as asked from ``namespace``, in the order they should be tried.

        Raises ``NameNotFound`` when there is no such name, ``ResolverFailure`` when nobody can tell.
        """
        ...


class HostsResolver:
    """A resolver that knows what stands in its table, as /etc/hosts does; and localhost."""

    def __init__(self, table: Mapping[str, str | list[str]] | None = None) -> None:
        self.table: dict[str, str | list[str]] = {"localhost": "127.0.0.1", **(table or {})}

    async def resolve(self, namespace: Namespace, name: str) -> list[str]:
        """The addresses in the table; upper and lower case are the same."""
        found = self.table.get(name.lower().removesuffix("."))
        if not found:
            raise NameNotFound(name)
        return [found] if isinstance(found, str) else list(found)


@lru_cache(maxsize=4096)
def is_address(host: str) -> bool:
    """Whether this is a literal IP address, so that no resolver needs to be asked."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(address: str) -> bool:
    """Whether this address never leaves the namespace. (Linux connects to 0.0.0.0 as to itself.)"""
    return address.startswith("127.") or address in ("::1", *WILDCARDS)

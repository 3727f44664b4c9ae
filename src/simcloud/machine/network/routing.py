"""Where an address leads, and what a name means: routes, and the plain router and resolver.

The cluster brings a router and a resolver of its own; ``path.Router`` and ``namespace.Resolver`` say what they must do.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from msgspec import Struct

from simcloud.machine.network.errors import NameNotFound

Endpoint = tuple[str, int]
"""An address and a port."""

DUAL: Final = "::"
"""Programs in Go listen here unless they are given an address: for IPv6 and IPv4."""

ONLY_IPV6: Final = "[::]"
"""A socket that takes IPv6 only; there is none on this network, so nothing ever arrives."""

WILDCARDS: Final = ("0.0.0.0", DUAL)
"""Listening here is listening on every address of the namespace."""


class Verdict(Enum):
    """What becomes of a packet."""

    DELIVER = "deliver"
    REFUSE = "refuse"
    DROP = "drop"
    UNREACHABLE = "unreachable"


class Route(Struct, frozen=True):
    """A router's answer; address and port matter only for what is delivered.

    ``source`` replaces the sender's address (masquerading), ``via`` is the machine that forwards the packets of a
    connection between two others.
    """

    verdict: Verdict
    address: str = ""
    port: int = 0
    source: str = ""
    via: str = ""

    @classmethod
    def deliver(cls, address: str, port: int) -> Route:
        """Take it there."""
        return cls(Verdict.DELIVER, address, port)


REFUSE: Final = Route(Verdict.REFUSE)
DROP: Final = Route(Verdict.DROP)
UNREACHABLE: Final = Route(Verdict.UNREACHABLE)


class PlainRouter:
    """Everything goes where it is addressed."""

    def route(self, source: object, address: str, port: int, transport: str) -> Route:
        """Deliver as it is."""
        return Route.deliver(address, port)


class HostsResolver:
    """A resolver that knows what stands in its table, as /etc/hosts does; and localhost."""

    def __init__(self, table: Mapping[str, str | list[str]] | None = None) -> None:
        self.table: dict[str, str | list[str]] = {"localhost": "127.0.0.1", **(table or {})}

    async def resolve(self, namespace: object, name: str) -> list[str]:
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

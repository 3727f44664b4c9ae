"""Where a service is: a list of addresses that may change while somebody looks.

Registries (Consul) have their own ``Addresses``; a service that is simply known by its name has fixed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

Tell = Callable[[Sequence[str]], None]


class Addresses(Protocol):
    """Says where a service is, as ``"10.244.1.3:8083"``."""

    def watch(self, tell: Tell) -> None:
        """Tell the addresses once they are known and again whenever they change; returns at once."""


class FixedAddresses:
    """Addresses that never change. One may be a name, ``"geo:8083"``: it is looked up whenever it is dialled."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    def watch(self, tell: Tell) -> None:
        """Tell them."""
        tell(self._addresses)

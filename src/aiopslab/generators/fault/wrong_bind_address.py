"""A store listens on the loopback address only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.fault.store import WrongArguments
from aiopslab.generators.site import Site

OPTIONS: Final = {"mongodb": "--bind_ip", "redis": "--bind", "memcached": "-l"}


@fault
@dataclass(frozen=True)
class WrongBindAddress(WrongArguments):
    """Hardening by a guide for single hosts: the store accepts local connections only."""

    address: str = draw_from("127.0.0.1", "localhost")
    name: ClassVar[str] = "wrong_bind_address"
    roles: ClassVar[tuple[Role, ...]] = STORES
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue",)

    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Bind to the loopback address."""
        return (OPTIONS[site.app.component(self.target).role], self.address)

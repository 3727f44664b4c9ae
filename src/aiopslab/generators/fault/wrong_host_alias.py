"""A release fixes the address of a dependency, and the address is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongHostAlias(ReleasedFault):
    """A team pins the address of a dependency in its pods for a migration, and forgets to remove it."""

    address: str = draw_from("10.0.14.22", "192.168.40.7", "172.16.9.31", "127.0.0.1")
    number: int = draw_from(0, 1, 2)
    name: ClassVar[str] = "wrong_host_alias"
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Network/Storage Issue",
        "Dependency Problem",
        "Operation Error",
    )
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the component needs something that it finds by name."""
        return bool(app.find_needed(component.name)) and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Roll out the address."""
        named = site.app.find_needed(self.target)
        alias = {"ip": self.address, "hostnames": [named[self.number % len(named)]]}
        site.set_pods(self.target, hostAliases=[alias])

"""A store gets an option that its version refuses, and does not start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import Layer, fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.fault.store import TAKES_EFFECT_S, may_restart
from aiopslab.generators.site import Site

OPTIONS: Final = {
    "mongodb": (("--smallfiles",), ("--noprealloc",), ("--nssize", "16"), ("--httpinterface",)),
    "redis": (
        ("--latency-tracking", "no"),
        ("--appenddirname", "aof"),
        ("--shutdown-timeout", "10"),
        ("--enable-debug-command", "local"),
    ),
    "memcached": (("-m", "1"), ("-I", "512"), ("-t", "0"), ("-c", "0")),
}


@fault
@dataclass(frozen=True)
class RefusedOption(ReleasedFault):
    """A team tunes a store by an article about another version of it."""

    choice: int = draw_from(0, 1, 2, 3)
    name: ClassVar[str] = "refused_option"
    layer: ClassVar[Layer] = "application"
    roles: ClassVar[tuple[Role, ...]] = STORES
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the store may restart, and users notice."""
        return may_restart(app, component) and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Add the option."""
        options = OPTIONS[site.app.component(self.target).role][self.choice]
        site.set_container(self.target, args=[*site.get_container(self.target).get("args", ()), *options])

    def inject(self, site: Site) -> None:
        """Roll out the option, then the callers."""
        super().inject(site)
        site.run(f"sleep {TAKES_EFFECT_S}")
        site.restart_callers(self.target)

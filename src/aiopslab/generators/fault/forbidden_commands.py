"""Redis forbids its callers commands that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import StoreFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ForbiddenCommands(StoreFault):
    """Hardening takes commands from the default user of Redis, as whom its callers work."""

    commands: str = draw_from("-@write", "-@sortedset", "-zadd")
    name: ClassVar[str] = "forbidden_commands"
    roles: ClassVar[tuple[Role, ...]] = ("redis",)
    fault_type: ClassVar[str] = "Authentication Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Operation Error")
    restart_repairs: ClassVar[bool] = True

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users write to it."""
        return component.written and super().suits(app, component)

    def inject(self, site: Site) -> None:
        """Forbid the commands."""
        site.database(self.target, f"acl setuser default {self.commands}")

    def recover(self, site: Site) -> None:
        """Allow all commands."""
        site.database(self.target, "acl setuser default +@all")

    def present(self, site: Site) -> bool:
        """Return whether the server refuses to add or to read, before it looks at the arguments."""
        tries = ("zadd probe none member", "zrevrange probe none none")
        return any("NOPERM" in site.database(self.target, line) for line in tries)

"""Redis cannot write its snapshots, and so refuses writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import WrongArguments
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class FailedSnapshots(WrongArguments):
    """Hardening makes the file system of Redis read-only while frequent snapshots are switched on."""

    rhythm: str = draw_from("15 1", "20 1", "25 1")
    name: ClassVar[str] = "failed_snapshots"
    roles: ClassVar[tuple[Role, ...]] = ("redis",)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users write to it."""
        return component.written and super().suits(app, component)

    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Save a snapshot every few seconds if anything changed."""
        return ("--save", *self.rhythm.split())

    def release(self, site: Site) -> None:
        """Roll out the snapshots and the read-only file system, then the callers."""
        self.add_arguments(site, securityContext={"readOnlyRootFilesystem": True})
        site.restart_callers(self.target)

"""The pods of a service run another service's program: they look healthy but do not serve its calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongProgram(ReleasedFault):
    """A team copies the manifest of another service, and keeps its command."""

    shift: int = draw_from(1, 2, 3, 4)
    name: ClassVar[str] = "wrong_program"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Code Defect")
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    def release(self, site: Site) -> None:
        """Roll out the command of one of the next services."""
        services = [other.name for other in site.app.components if other.role == "service"]
        copied = services[(services.index(self.target) + self.shift) % len(services)]
        site.set_container(self.target, command=site.get_container(copied)["command"])

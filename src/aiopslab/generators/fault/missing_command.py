"""A release starts a program that its image does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingCommand(ReleasedFault):
    """A team renames its entry point in the manifest, before the image that has it."""

    pattern: str = draw_from("{}-server", "/app/{}", "/opt/bin/{}", "run-{}", "{}d")
    name: ClassVar[str] = "missing_command"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem", "Code Defect")
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    def release(self, site: Site) -> None:
        """Roll out the command."""
        (program, *_) = site.get_container(self.target)["command"]
        site.set_container(self.target, command=[self.pattern.format(program)])

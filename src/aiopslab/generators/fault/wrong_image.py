"""A release names an image tag that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongImage(ReleasedFault):
    """A team rolls out an image tag that was never pushed."""

    tag: str = draw_from("v8.1", "release-9", "2026.1", "stable-2", "main-4f1c2d9")
    name: ClassVar[str] = "wrong_image"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the tag."""
        image: str = site.get_container(self.target)["image"]
        site.set_container(self.target, image=f"{image.rpartition(':')[0] or image}:{self.tag}")

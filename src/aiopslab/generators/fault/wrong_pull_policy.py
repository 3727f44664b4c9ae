"""A release may not pull its image, which no node has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongPullPolicy(ReleasedFault):
    """A team rolls out an image that exists only on a developer's machine, with the pull policy used there."""

    tag: str = draw_from("dev", "local", "wip-2", "patched", "snapshot")
    name: ClassVar[str] = "wrong_pull_policy"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the image and the policy."""
        image: str = site.get_container(self.target)["image"]
        local = f"{image.rpartition(':')[0] or image}:{self.tag}"
        site.set_container(self.target, image=local, imagePullPolicy="Never")

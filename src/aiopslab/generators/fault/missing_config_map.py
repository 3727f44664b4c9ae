"""A release mounts a ConfigMap that does not exist."""

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
class MissingConfigMap(ReleasedFault):
    """A team adds a file of settings to its pods; the ConfigMap exists only in another environment."""

    suffix: str = draw_from("overrides", "limits", "features", "routing", "defaults")
    name: ClassVar[str] = "missing_config_map"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the volume."""
        source = {"configMap": {"name": f"{self.target}-{self.suffix}"}}
        site.add_volume(self.target, self.suffix, source, f"/etc/{self.suffix}")

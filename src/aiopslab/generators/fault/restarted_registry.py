"""The registry has forgotten every service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import Layer, fault
from aiopslab.generators.fault.drawn import DrawnFault
from aiopslab.generators.fault.registered import is_registered
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class RestartedRegistry(DrawnFault):
    """A registry that keeps everything in memory is restarted, and then the front end, which looks for all services."""

    name: ClassVar[str] = "restarted_registry"
    layer: ClassVar[Layer] = "application"
    roles: ClassVar[tuple[Role, ...]] = ("registry",)
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Misconfiguration")
    restart_repairs: ClassVar[bool] = True

    def inject(self, site: Site) -> None:
        """Restart the registry, and the front end afterwards."""
        site.restart(self.target)
        site.wait_until_ready(self.target)
        for component in site.app.components:
            if component.role == "front end":
                site.restart(component.name)

    def recover(self, site: Site) -> None:
        """Restart the services that are missing, so that they register."""
        for name in self._find_missing(site):
            site.restart(name)
            site.wait_until_ready(name)

    def present(self, site: Site) -> bool:
        """Return whether a service is missing."""
        return bool(self._find_missing(site))

    def _find_missing(self, site: Site) -> list[str]:
        names = [component.name for component in site.app.components if component.found_by == "registry"]
        return [name for name in names if not is_registered(site, name)]

"""A Service selects the pods of another component."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MisdirectedService(ServiceFault):
    """Somebody copies the selector of another Service, whose pods then get the component's calls."""

    skipped: int = draw_from(0, 1, 2, 3)
    name: ClassVar[str] = "misdirected_service"
    roles: ClassVar[tuple[Role, ...]] = ("service", "front end")

    def change(self, site: Site) -> None:
        """Select the pods of another service."""
        others = [
            each.name for each in site.app.components if each.role == "service" and each.name != self.target
        ]
        site.kubectl(
            f"set selector service {self.target} {site.get_selector(others[self.skipped % len(others)])}"
        )

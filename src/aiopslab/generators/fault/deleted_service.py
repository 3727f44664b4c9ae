"""A Service is deleted by mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import STORES
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class DeletedService(ServiceFault):
    """An operator tidies up and deletes the Service of a component, whose pods run on."""

    name: ClassVar[str] = "deleted_service"
    roles: ClassVar[tuple[Role, ...]] = ("service", "registry", *STORES)
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Dependency Problem")

    def change(self, site: Site) -> None:
        """Delete the Service."""
        site.kubectl(f"delete service {self.target}")

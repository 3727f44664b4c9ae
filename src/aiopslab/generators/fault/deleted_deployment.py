"""A Deployment is deleted by mistake, and its pods with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class DeletedDeployment(DeclaredFault):
    """An operator tidies up and deletes a Deployment that is still needed."""

    name: ClassVar[str] = "deleted_deployment"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Misconfiguration")

    def release(self, site: Site) -> None:
        """Delete the Deployment."""
        site.kubectl(f"delete deployment {self.target}")

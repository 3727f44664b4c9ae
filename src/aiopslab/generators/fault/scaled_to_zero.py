"""A workload is scaled to zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault, keeps_data, restart_users_of_store
from aiopslab.generators.fault.drawn import SERVING
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ScaledToZero(DeclaredFault):
    """An operator scales down a workload that is still needed."""

    name: ClassVar[str] = "scaled_to_zero"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice, and no data is lost with the pods."""
        return keeps_data(component) and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Scale the workload to zero."""
        site.kubectl(f"scale deployment/{self.target} --replicas=0")
        restart_users_of_store(site, self.target)

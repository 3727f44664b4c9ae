"""A Service leads out of the cluster, to a host that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ExternalNameService(ServiceFault):
    """A team prepares the move of a component to a managed service and switches its Service to the new host too early."""

    domain: str = draw_from(
        "managed.example.net", "eu-central.example.com", "prod.corp.internal", "platform.internal"
    )
    name: ClassVar[str] = "external_name_service"
    roles: ClassVar[tuple[Role, ...]] = ("service", "registry", *STORES)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")

    def change(self, site: Site) -> None:
        """Make it an alias of the new host."""
        host = f"{self.target}.{self.domain}"
        site.patch(
            "service",
            self.target,
            {"spec": {"type": "ExternalName", "externalName": host, "clusterIP": None, "clusterIPs": None}},
        )

"""What faults of an application's own registry share: who is registered there, and who is missing."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import Any, ClassVar, Final, Self

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import GroundTruth, Layer
from aiopslab.generators.fault.drawn import DrawnFault
from aiopslab.generators.site import Site

LIST: Final = "curl -s localhost:8500/v1/agent/services"


def find_registry(app: Application) -> str:
    """Return the component that is the application's registry."""
    return next(component.name for component in app.components if component.role == "registry")


def list_registrations(site: Site) -> list[dict[str, Any]]:
    """Return the instances that are registered, as Consul describes them."""
    return list(json.loads(site.exec(find_registry(site.app), LIST)).values())


def is_registered(site: Site, component: str) -> bool:
    """Return whether every pod of a component can be found in the registry."""
    known = {instance["Address"] for instance in list_registrations(site)}
    addresses = site.addresses_of(component)
    return bool(addresses) and known.issuperset(addresses)


@dataclass(frozen=True)
class RegistrationFault(DrawnFault):
    """Somebody changes the registration of a service by hand."""

    registry: str = "consul"
    layer: ClassVar[Layer] = "application"
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Misconfiguration",
        "Dependency Problem",
        "Network/Storage Issue",
    )
    restart_repairs: ClassVar[bool] = True

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether callers find the service in the registry, and users notice."""
        return component.found_by == "registry" and super().suits(app, component)

    @classmethod
    def draw(cls, app: Application, chance: Random, without: tuple[str, ...] = ()) -> Self:
        """Return the fault with the application's registry."""
        return replace(super().draw(app, chance, without), registry=find_registry(app))

    @property
    def truth(self) -> GroundTruth:
        """The service, or the registry."""
        return replace(super().truth, also_right=(self.registry,))

    def find_instances(self, site: Site) -> list[dict[str, Any]]:
        """Return the registrations of the service's running pods."""
        addresses = site.addresses_of(self.target)
        return [instance for instance in list_registrations(site) if instance["Address"] in addresses]

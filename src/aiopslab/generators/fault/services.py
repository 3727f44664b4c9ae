"""Faults of Services: what callers find under a component's name is wrong, while its pods run on."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import Capability
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import STORES
from aiopslab.generators.site import Site


@dataclass(frozen=True)
class ServiceFault(DeclaredFault):
    """A wrong change of the target's Service."""

    roles: ClassVar[tuple[Role, ...]] = ("service", "front end", "registry", *STORES)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether callers find the component by its Service, and notice."""
        return component.found_by == "Service" and super().suits(app, component)

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Service."""
        return (("services", self.target),)

    @abstractmethod
    def change(self, site: Site) -> None:
        """Change the Service."""

    def release(self, site: Site) -> None:
        """Change the Service and restart its callers, whose connections would outlive the change."""
        self.change(site)
        site.restart_callers(self.target)


@dataclass(frozen=True)
class PortFault(ServiceFault):
    """A wrong change of the only port of the target's Service; a registry has several."""

    roles: ClassVar[tuple[Role, ...]] = ("service", "front end", *STORES)


@dataclass(frozen=True)
class StaleRouteFault(ServiceFault):
    """A wrong change by which callers are still led to the target's old pods after its next restart."""

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether a restart keeps its data, and callers notice."""
        is_safe = component.persistent or component.role not in ("mongodb", "redis")
        return is_safe and super().suits(app, component)

    @abstractmethod
    def freeze(self, site: Site) -> None:
        """Make the change, after which routes to the target no longer follow its pods."""

    def change(self, site: Site) -> None:
        """Make the change and restart the target."""
        self.freeze(site)
        site.restart(self.target)


@dataclass(frozen=True)
class FrontDoorFault(ServiceFault):
    """A wrong change of the Service by which users come in."""

    needs: ClassVar[tuple[Capability, ...]] = ("node port",)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users come in here."""
        return component.name == app.front_door.service

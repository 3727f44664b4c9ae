"""Wrong changes of the Ingress through which users enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from aiopslab.apps import INGRESS, Application, Component, Role
from aiopslab.generators.fault.base import Capability
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.site import Site

PATH: Final = "/spec/rules/0/http/paths/0"
"""Where the first path of an Ingress is."""


@dataclass(frozen=True)
class IngressFault(DeclaredFault):
    """The Ingress of the front door is wrong."""

    roles: ClassVar[tuple[Role, ...]] = ("front end",)
    entry: ClassVar[str] = INGRESS
    needs: ClassVar[tuple[Capability, ...]] = ("ingress",)
    alone: ClassVar[bool] = False
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the component is the front door."""
        return component.name == app.front_door.service

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Ingress."""
        return (("ingresses.networking.k8s.io", self.target),)

    def set(self, site: Site, path: str, value: Any) -> None:
        """Set a field of the Ingress."""
        site.patch("ingress", self.target, [{"op": "replace", "path": path, "value": value}], how="json")

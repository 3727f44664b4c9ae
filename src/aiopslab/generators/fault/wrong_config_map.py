"""A ConfigMap names a dependency that does not exist, and the pods have been restarted since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongConfigMap(DeclaredFault):
    """A team edits the address of a dependency for a migration that never happened."""

    pattern: str = draw_from("{}-new", "{}-v2", "{}-primary", "{}.internal", "new-{}")
    name: ClassVar[str] = "wrong_config_map"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the component reads addresses from a ConfigMap."""
        return bool(component.config_file and app.find_needed(component.name)) and super().suits(
            app, component
        )

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The ConfigMap."""
        return (("configmaps", self.target),)

    def release(self, site: Site) -> None:
        """Edit the ConfigMap and restart the pods."""
        key, needed = site.app.component(self.target).config_file, site.app.find_needed(self.target)[0]
        text = site.get_settings(self.target)[key]
        changed = text.replace(f'"addr": "{needed}"', f'"addr": "{self.pattern.format(needed)}"')
        site.patch("configmap", self.target, {"data": {key: changed}})
        site.restart(self.target)

    def recover(self, site: Site) -> None:
        """Make the ConfigMap as it was, and restart the pods."""
        super().recover(site)
        site.restart(self.target)

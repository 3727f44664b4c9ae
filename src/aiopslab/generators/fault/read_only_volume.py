"""The volume of a database is mounted read-only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.store import TAKES_EFFECT_S
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class ReadOnlyVolume(DeclaredFault):
    """A team that copies a backup's manifest mounts the data of a database read-only."""

    name: ClassVar[str] = "read_only_volume"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb", "redis")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue",)
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the store has a volume."""
        return component.persistent and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Mount the claimed volumes read-only, and restart the callers."""
        pods = site.get_deployment(self.target)["spec"]["template"]["spec"]
        claimed = [volume["name"] for volume in pods["volumes"] if "persistentVolumeClaim" in volume]
        mounts = [mount for mount in pods["containers"][0]["volumeMounts"] if mount["name"] in claimed]
        site.set_container(self.target, volumeMounts=[{**mount, "readOnly": True} for mount in mounts])
        site.run(f"sleep {TAKES_EFFECT_S}")
        site.restart_callers(self.target)

"""A volume is mounted over the working folder of the program, and hides its files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class HiddenFiles(ReleasedFault):
    """A team gives its pods scratch space, and mounts it where the image has the program's own files."""

    volume: str = draw_from("scratch", "workspace", "tmp-data", "cache")
    name: ClassVar[str] = "hidden_files"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the program's files are in its image, not in a ConfigMap."""
        return not component.config_file and super().suits(app, component)

    def release(self, site: Site) -> None:
        """Roll out an empty volume."""
        folder = site.exec(self.target, "readlink /proc/1/cwd").strip()
        site.add_volume(self.target, self.volume, {"emptyDir": {}}, folder)

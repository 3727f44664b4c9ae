"""A database starts in another folder than that of its data, and so is empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import WrongArguments, empty_caches
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongDataFolder(WrongArguments):
    """A team sets the folder of a database to one of the image's other folders, which is empty."""

    folder: str = draw_from("/data/configdb", "/tmp")
    name: ClassVar[str] = "wrong_data_folder"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether users notice when the data is missing."""
        return component.needs_data and super().suits(app, component)

    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Name the folder."""
        return ("--dbpath", self.folder)

    def release(self, site: Site) -> None:
        """Roll out the folder. The callers stay, and the caches are emptied after the change."""
        self.add_arguments(site)
        empty_caches(site)

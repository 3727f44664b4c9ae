"""A limit of ephemeral storage is lower than the program's logs, so its pods are evicted again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.storage_limits import STORAGE, is_reached_by_log
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class SmallStorageLimit(ReleasedFault):
    """A team limits the ephemeral storage of its pods, and mistypes the unit."""

    limit: str = draw_from("1Ki", "1k", "512", "800")
    name: ClassVar[str] = "small_storage_limit"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service")
    course: ClassVar[Course] = "intermittent"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the limit."""
        site.set_container(self.target, resources={"limits": {STORAGE: self.limit}})

    def present(self, site: Site) -> bool:
        """Return whether the program's log still reaches the limit."""
        return is_reached_by_log(site.get_container(self.target))

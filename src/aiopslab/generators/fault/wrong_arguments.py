"""A datastore is started with an argument that it does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongArguments(ReleasedFault):
    """A team tunes its datastore with an option of another version."""

    option: str = draw_from(
        "--max-conections=512", "--cacheSizeGb=1", "--slow-ms=50", "--no-journaling", "--io-threads=4"
    )
    name: ClassVar[str] = "wrong_arguments"
    roles: ClassVar[tuple[Role, ...]] = STORES
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)
    also_levels: ClassVar[tuple[str, ...]] = ("Application",)

    def release(self, site: Site) -> None:
        """Roll out the option, after those that the datastore has."""
        args: list[str] = site.get_container(self.target).get("args", [])
        site.set_container(self.target, args=[*args, self.option])

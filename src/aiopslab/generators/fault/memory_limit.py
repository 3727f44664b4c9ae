"""A memory limit is lower than what the program needs, so it is killed again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MemoryLimit(ReleasedFault):
    """A team saves memory, and loses a digit of the limit."""

    limit: str = draw_from("6Mi", "7Mi", "8Mi", "8M", "7500Ki")
    name: ClassVar[str] = "memory_limit"
    roles: ClassVar[tuple[Role, ...]] = ("front end", "service", "mongodb")
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System",)

    def release(self, site: Site) -> None:
        """Roll out the limit, and a request that fits it."""
        site.kubectl(
            f"set resources deployment/{self.target} --limits=memory={self.limit} --requests=memory={self.limit}"
        )

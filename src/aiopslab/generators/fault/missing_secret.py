"""A release reads its environment from a Secret that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class MissingSecret(ReleasedFault):
    """A team moves credentials into a Secret, and forgets to create it in this namespace."""

    suffix: str = draw_from("credentials", "api-keys", "secrets", "tokens", "auth")
    name: ClassVar[str] = "missing_secret"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")

    def release(self, site: Site) -> None:
        """Roll out the reference."""
        site.set_container(self.target, envFrom=[{"secretRef": {"name": f"{self.target}-{self.suffix}"}}])

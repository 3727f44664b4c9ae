"""A store listens on another port than its callers use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.fault.store import WrongArguments
from aiopslab.generators.site import Site

OPTIONS: Final = {"mongodb": "--port", "redis": "--port", "memcached": "-p"}


@fault
@dataclass(frozen=True)
class WrongPort(WrongArguments):
    """A team moves a store to another port and forgets its Service and its callers."""

    shift: int = draw_from(1, 10, 100, 1000)
    name: ClassVar[str] = "wrong_port"
    roles: ClassVar[tuple[Role, ...]] = STORES
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue",)

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Deployment, and the Service, which a repair may point to the new port."""
        return (*super().concerned, ("services", self.target))

    def present(self, site: Site) -> bool:
        """Return whether the Deployment has the port and the Service points elsewhere."""
        return all(
            site.is_as_injected(*resource) for resource in super().concerned
        ) and not self._is_followed(site)

    def list_arguments(self, site: Site) -> tuple[str, ...]:
        """Listen on the shifted port."""
        return (OPTIONS[site.app.component(self.target).role], str(self._get_port(site)))

    def _get_port(self, site: Site) -> int:
        original = site.find_original("services", self.target)
        assert original is not None, f"{self.target} has no Service"
        port: int = original["spec"]["ports"][0]["targetPort"]
        return port + self.shift

    def _is_followed(self, site: Site) -> bool:
        """Return whether the Service points to the new port."""
        return site.get_port(self.target) == self._get_port(site)

"""A release mounts a volume claim that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.fault.drawn import SERVING, draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site

CLAIMS: Final = "persistentvolumeclaims"


@fault
@dataclass(frozen=True)
class MissingClaim(ReleasedFault):
    """A team gives its pods a disk; the claim for it was never created."""

    use: str = draw_from("scratch", "spool", "exports", "reports", "archive")
    name: ClassVar[str] = "missing_claim"
    roles: ClassVar[tuple[Role, ...]] = SERVING
    also_fault_types: ClassVar[tuple[str, ...]] = (
        "Dependency Problem",
        "Network/Storage Issue",
        "Operation Error",
    )

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Deployment, and the claim: creating it is a repair."""
        return ((DEPLOYMENTS, self.target), (CLAIMS, self._claim))

    def release(self, site: Site) -> None:
        """Roll out the volume."""
        source = {"persistentVolumeClaim": {"claimName": self._claim}}
        site.add_volume(self.target, self.use, source, f"/var/{self.use}")

    def present(self, site: Site) -> bool:
        """Return whether the Deployment still needs the claim, and it does not exist."""
        return site.find(CLAIMS, self._claim) is None and site.is_as_injected(DEPLOYMENTS, self.target)

    @property
    def _claim(self) -> str:
        return f"{self.target}-{self.use}"

"""A Deployment is being deleted and never goes, because nothing removes its finalizer; so it creates no pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site
from simcloud.kubernetes.api import at


@fault
@dataclass(frozen=True)
class FinalizerDeadlock(DeclaredFault):
    """A team deletes a Deployment to create it again, but it has the finalizer of an operator that was uninstalled long ago."""

    finalizer: str = draw_from(
        "delivery.example.com/release-hook",
        "backup.example.com/snapshot",
        "mesh.example.com/sidecar-cleanup",
        "registry.example.com/deregister",
    )
    name: ClassVar[str] = "finalizer_deadlock"
    fault_type: ClassVar[str] = "Operation Error"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Misconfiguration", "Dependency Problem")

    def release(self, site: Site) -> None:
        """Delete the Deployment and its pods."""
        site.patch("deployment", self.target, {"metadata": {"finalizers": [self.finalizer]}}, "merge")
        site.kubectl(f"delete deployment {self.target} --cascade=foreground --wait=false")

    def recover(self, site: Site) -> None:
        """Remove the finalizer, and create the Deployment again."""
        if self._is_going(site):
            site.patch("deployment", self.target, {"metadata": {"finalizers": None}}, "merge")
        super().recover(site)

    def present(self, site: Site) -> bool:
        """Return whether the Deployment is missing or being deleted."""
        return site.find(DEPLOYMENTS, self.target) is None or self._is_going(site)

    def _is_going(self, site: Site) -> bool:
        found = site.find(DEPLOYMENTS, self.target)
        return at(found, "metadata", "deletionTimestamp") is not None

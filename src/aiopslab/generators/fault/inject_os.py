"""``OSFaultInjector`` of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.generators.fault.base import FaultInjector
from aiopslab.generators.fault.disk_woreout import DiskWoreout

__all__ = ["OSFaultInjector"]


class OSFaultInjector(FaultInjector):
    """Faults of a node's operating system and disk. Without targets, they strike a node of the first database."""

    def inject_disk_woreout(self, microservices: list[str] | None = None) -> None:
        """Wear out the disk of a node on which each target runs."""
        for target in microservices or self._find_databases():
            DiskWoreout(target).inject(self.site)

    def recover_disk_woreout(self, microservices: list[str] | None = None) -> None:
        """Move each target to a node with a good disk."""
        for target in microservices or self._find_databases():
            DiskWoreout(target).recover(self.site)

    def _find_databases(self) -> list[str]:
        components = self.site.app.components
        return [component.name for component in components if component.role == "mongodb"][:1]

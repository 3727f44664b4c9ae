"""The scheduler crashes at its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.control_plane import MANIFESTS, ControlPlaneFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class CrashingScheduler(ControlPlaneFault):
    """An operator renames a kubeconfig in the scheduler's flags and not on the disk, so it crashes again and again."""

    path: str = draw_from(
        "/etc/kubernetes/kube-scheduler.conf", "/etc/kubernetes/sched.conf", "/etc/scheduler.conf"
    )
    name: ClassVar[str] = "crashing_scheduler"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")
    component: ClassVar[str] = "kube-scheduler"

    def stop(self, site: Site, node: str) -> None:
        """Change the flag."""
        self._change(site, node, "/etc/kubernetes/scheduler.conf", self.path)

    def recover(self, site: Site) -> None:
        """Change the flag back, and wait for the scheduler."""
        (node,) = self.machines_at_fault(site)
        self._change(site, node, self.path, "/etc/kubernetes/scheduler.conf")
        self.wait_until(site, True)

    def _change(self, site: Site, node: str, old: str, new: str) -> None:
        manifest = f"{MANIFESTS}/{self.component}.yaml"
        site.node_shell(node, f"sed -i 's|--kubeconfig={old}$|--kubeconfig={new}|' {manifest}")

"""The disks of all workers are full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Course, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import PodLossFault, restart_callers_when_ready
from aiopslab.generators.site import Site

FULL: Final = 88
"""Percent of the disk; the kubelet evicts pods from 90% on."""


@fault
@dataclass(frozen=True)
class FullNodeDisks(PodLossFault):
    """A job writes a large file on every worker: the kubelets report pressure and evict pods, which find no other node."""

    path: str = draw_from("/var/log/audit-export.tar", "/var/tmp/heap.hprof", "/var/lib/nightly-backup.img")
    free_mb: int = draw_from(900, 1150, 1400)
    name: ClassVar[str] = "full_node_disks"
    course: ClassVar[Course] = "correlated"
    fault_type: ClassVar[str] = "Network/Storage Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Misconfiguration")
    also_levels: ClassVar[tuple[str, ...]] = ("Hardware", "Virtualization")

    def inject(self, site: Site) -> None:
        """Fill the disks of all workers."""
        nodes = site.struck_nodes[self.target] = tuple(site.list_workers())
        for node in nodes:
            self.strike(site, node)

    def strike(self, site: Site, node: str) -> None:
        """Write the file."""
        free = f"$(( $(df --output=avail -BM / | tail -1 | tr -d M) - {self.free_mb} ))M"
        site.node_shell(node, f"mkdir -p $(dirname {self.path}); fallocate -l {free} {self.path}")

    def recover(self, site: Site) -> None:
        """Delete the file, and restart the kubelet, which reports pressure for five more minutes otherwise."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, f"rm -f {self.path}; systemctl restart kubelet")
        restart_callers_when_ready(site, [known.name for known in site.app.components if not known.calls])

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether the disk is nearly full."""
        return int(site.node_shell(node, "df --output=pcent / | tail -1").strip(" %\n")) >= FULL

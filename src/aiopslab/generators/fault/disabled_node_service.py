"""A service of a node was not enabled, and the node was rebooted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import PodLossFault, find_components_on, restart_callers_when_ready
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class DisabledNodeService(PodLossFault):
    """An upgrade leaves a service of a node disabled, which nobody notices until the node boots without it."""

    unit: str = draw_from("kubelet", "containerd")
    name: ClassVar[str] = "disabled_node_service"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)

    def strike(self, site: Site, node: str) -> None:
        """Disable the service, and reboot."""
        site.node_shell(node, f"systemctl disable {self.unit}")
        site.run(f"ssh {node} reboot || true")

    def recover(self, site: Site) -> None:
        """Enable the service, start it, and restart the callers of what was down."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, f"systemctl enable --now {self.unit}")
            restart_callers_when_ready(site, find_components_on(site, node))

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether the service does not run, or would not after a boot."""
        states = site.node_shell(
            node, f"systemctl is-active {self.unit}; systemctl is-enabled {self.unit}; true"
        )
        return states.split() != ["active", "enabled"]

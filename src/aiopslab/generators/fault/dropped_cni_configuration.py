"""The network plugin of a node has lost its configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node import NodeFault
from aiopslab.generators.site import Site

FOLDER: Final = "/etc/cni/net.d"


@fault
@dataclass(frozen=True)
class DroppedCniConfiguration(NodeFault):
    """An operator tries another network plugin, moves the configuration of the old one away, and starts a pod anew."""

    put_at: str = draw_from(
        f"{FOLDER}/10-kindnet.conflist.bak", "/root/10-kindnet.conflist", "/var/tmp/cni.conflist"
    )
    name: ClassVar[str] = "dropped_cni_configuration"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)

    def inject(self, site: Site) -> None:
        """Move the configuration, then end the sandboxes of the target's pods."""
        super().inject(site)
        for pod in site.pods_of(self.target):
            for node in self.machines_at_fault(site):
                site.node_shell(node, f"crictl stopp $(crictl pods --name {pod} -q)")

    def strike(self, site: Site, node: str) -> None:
        """Move the configuration away."""
        site.node_shell(node, f"mv {FOLDER}/*.conflist {self.put_at}")

    def recover(self, site: Site) -> None:
        """Move the configuration back."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, f"[ ! -e {self.put_at} ] || mv {self.put_at} {FOLDER}/10-kindnet.conflist")

    def is_broken(self, site: Site, node: str) -> bool:
        """Return whether the runtime's network is not ready."""
        return "NetworkPluginNotReady" in site.node_shell(node, "crictl info")

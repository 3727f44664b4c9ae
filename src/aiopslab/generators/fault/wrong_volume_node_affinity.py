"""The volume of a database may be used only on a node that does not exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.claim_faults import CLAIMS, VOLUMES, ClaimFault, free_volume
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongVolumeNodeAffinity(ClaimFault):
    """An operator pins a volume to the node of its disk, by the name that the node had before its replacement."""

    node: str = draw_from("storage-1", "worker-db-2", "node-a17", "disk-host-3")
    name: ClassVar[str] = "wrong_volume_node_affinity"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Network/Storage Issue")

    def release(self, site: Site) -> None:
        """Pin the volume; that can be done once."""
        name = {"key": "kubernetes.io/hostname", "operator": "In", "values": [self.node]}
        required = {"required": {"nodeSelectorTerms": [{"matchExpressions": [name]}]}}
        site.patch("pv", self.volume, {"spec": {"nodeAffinity": required}}, "merge")

    def rebind(self, site: Site) -> None:
        """Create volume and claim again; the files of the volume stay where they are."""
        site.kubectl(f"delete pvc {self.claim} && kubectl delete pv {self.volume}")
        site.restore(VOLUMES, self.volume, "")
        free_volume(site, self.volume)
        site.restore(CLAIMS, self.claim)

    def present(self, site: Site) -> bool:
        """Return whether the volume is missing or pinned, or the claim is not bound to it."""
        return site.is_as_injected(VOLUMES, self.volume, "") or super().present(site)

"""The manifest of a component of the control plane was moved away."""

from __future__ import annotations

from dataclasses import dataclass

from aiopslab.generators.fault.control_plane import MANIFESTS, ControlPlaneFault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site


@dataclass(frozen=True)
class MovedManifestFault(ControlPlaneFault):
    """An operator moves a manifest away to restart the component, and does not move it back."""

    folder: str = draw_from("/etc/kubernetes", "/root", "/tmp", "/var/tmp")

    def stop(self, site: Site, node: str) -> None:
        """Move the manifest away."""
        site.node_shell(node, f"mv {MANIFESTS}/{self.component}.yaml {self.folder}/")

    def recover(self, site: Site) -> None:
        """Move the manifest back, and wait for the component."""
        (node,) = self.machines_at_fault(site)
        moved = f"{self.folder}/{self.component}.yaml"
        site.node_shell(node, f"[ ! -e {moved} ] || mv {moved} {MANIFESTS}/")
        self.wait_until(site, True)

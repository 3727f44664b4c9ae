"""A forgotten file fills the volume of a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.apps import Application, Component, Role
from aiopslab.generators.fault.base import Capability, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.store import StoreFault
from aiopslab.generators.site import Site

LEAST_FREE_BYTES = 1 << 26


@fault
@dataclass(frozen=True)
class FullVolume(StoreFault):
    """Somebody stops a database to copy it, into its own data folder, until the disk is full."""

    file: str = draw_from("copy.tar", "before-upgrade.tar", "cold-copy.img", "snapshot.tmp")
    name: ClassVar[str] = "full_volume"
    roles: ClassVar[tuple[Role, ...]] = ("mongodb",)
    fault_type: ClassVar[str] = "Network/Storage Issue"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)
    also_levels: ClassVar[tuple[str, ...]] = ("Operating System", "Hardware", "Virtualization")
    needs: ClassVar[tuple[Capability, ...]] = ("node access",)

    @classmethod
    def suits(cls, app: Application, component: Component) -> bool:
        """Return whether the store has a volume that users' requests write to."""
        return component.persistent and component.written and super().suits(app, component)

    def inject(self, site: Site) -> None:
        """Stop the database, save its files beside them until the disk is full, and start it again."""
        before = site.get_deployment(self.target)["spec"]["replicas"]
        folder = self._get_folder(site)
        site.kubectl(f"scale deployment/{self.target} --replicas=0")
        site.wait_until_gone(f"-l {site.get_selector(self.target)}")
        free = f"$(df -B1 --output=avail {folder} | tail -1)"
        site.node_shell(self._get_node(site), f"fallocate -l {free} {folder}/{self.file}")
        site.kubectl(f"scale deployment/{self.target} --replicas={before}")
        site.restart_callers(self.target)

    def recover(self, site: Site) -> None:
        """Delete the file on the node, as the database cannot run, and restart the database and its callers."""
        site.node_shell(self._get_node(site), f"rm -f {self._get_folder(site)}/{self.file}")
        site.restart(self.target)
        site.wait_until_ready(self.target)
        site.restart_callers(self.target)

    def present(self, site: Site) -> bool:
        """Return whether hardly any space is left."""
        folder = self._get_folder(site)
        free = site.node_shell(self._get_node(site), f"df -B1 --output=avail {folder} | tail -1")
        return int(free) < LEAST_FREE_BYTES

    def _get_node(self, site: Site) -> str:
        return site.list_nodes()[-1]

    def _get_folder(self, site: Site) -> str:
        """Return the folder of the database's volume on the nodes, which share it."""
        pods = site.get_deployment(self.target)["spec"]["template"]["spec"]
        (claim,) = (
            volume["persistentVolumeClaim"]["claimName"]
            for volume in pods["volumes"]
            if "persistentVolumeClaim" in volume
        )
        volume = site.kubectl(f"get pvc {claim} -o jsonpath={{.spec.volumeName}}")
        return site.run(f"kubectl get pv {volume} -o jsonpath={{.spec.hostPath.path}}")

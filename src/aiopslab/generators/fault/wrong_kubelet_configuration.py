"""The kubelet's configuration is wrong, so it does not start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.node_service import NodeServiceFault
from aiopslab.generators.site import Site

CONFIG: Final = "/var/lib/kubelet/config.yaml"
AUTHORITY: Final = ("clientCAFile", "/etc/kubernetes/pki/ca.crt")
SOCKET: Final = ("containerRuntimeEndpoint", "unix:///run/containerd/containerd.sock")


@fault
@dataclass(frozen=True)
class WrongKubeletConfiguration(NodeServiceFault):
    """An operator edits the kubelet's configuration and restarts it; it exits at its start, again and again."""

    change: tuple[tuple[str, str], str] = draw_from(
        (AUTHORITY, "/etc/kubernetes/pki/client-ca.crt"),
        (AUTHORITY, "/etc/kubernetes/ssl/ca.pem"),
        (SOCKET, "unix:///run/crio/crio.sock"),
        (SOCKET, "unix:///run/containerd/cri.sock"),
    )
    name: ClassVar[str] = "wrong_kubelet_configuration"
    unit: ClassVar[str] = "kubelet"
    fault_type: ClassVar[str] = "Misconfiguration"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error", "Dependency Problem")

    def strike(self, site: Site, node: str) -> None:
        """Write the wrong value, and restart the kubelet."""
        (key, old), new = self.change
        self._set(site, node, key, old, new)

    def recover(self, site: Site) -> None:
        """Write the right value, and restart the kubelet."""
        (key, old), new = self.change
        for node in self.machines_at_fault(site):
            self._set(site, node, key, new, old)

    def _set(self, site: Site, node: str, key: str, old: str, new: str) -> None:
        edit = f"sed -i 's|{key}: {old}|{key}: {new}|' {CONFIG}"
        site.node_shell(node, f"{edit} && systemctl restart kubelet")

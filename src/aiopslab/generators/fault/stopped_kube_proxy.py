"""kube-proxy runs nowhere, so the nodes' rules for Services stay as they were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final

from aiopslab.generators.fault.base import GroundTruth, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.services import StaleRouteFault
from aiopslab.generators.site import SYSTEM, Site

PROXY: Final = "kube-proxy"


@fault
@dataclass(frozen=True)
class StoppedKubeProxy(StaleRouteFault):
    """An operator restricts kube-proxy to nodes with a label that no node has; then a component's pods move."""

    applied: bool = False
    label: str = draw_from("network-tier", "node-role.kubernetes.io/proxy", "service-routing", "dataplane")
    value: str = draw_from("enabled", "edge", "v2")
    name: ClassVar[str] = "stopped_kube_proxy"
    alone: ClassVar[bool] = False

    @property
    def truth(self) -> GroundTruth:
        """The proxy."""
        return replace(super().truth, component=PROXY, also_right=(f"{SYSTEM}/{PROXY}",))

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The DaemonSet."""
        return (("daemonsets.apps", PROXY, SYSTEM),)

    def freeze(self, site: Site) -> None:
        """Restrict the DaemonSet and wait until its pods are gone."""
        selector = {"spec": {"template": {"spec": {"nodeSelector": {self.label: self.value}}}}}
        site.patch("daemonset", PROXY, selector, namespace=SYSTEM)
        site.wait_until_gone(f"-l k8s-app={PROXY}", SYSTEM)

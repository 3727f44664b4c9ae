"""Faults of the cluster's DNS server. The target is a component whose callers look up its name at that time."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from aiopslab.apps import Role
from aiopslab.generators.fault.base import GroundTruth
from aiopslab.generators.fault.drawn import STORES
from aiopslab.generators.fault.services import ServiceFault
from aiopslab.generators.site import SYSTEM, Site, restart_unready_pods
from simcloud.kubernetes.api import at

DNS: Final = "coredns"
FIRST_PLUGIN: Final = "    kubernetes "
"""The line of the Corefile that rules for single names are written above."""


@dataclass(frozen=True)
class ClusterDnsFault(ServiceFault):
    """A wrong change of the DNS server; the target's callers resolve its name again."""

    applied: bool = False
    roles: ClassVar[tuple[Role, ...]] = ("service", "registry", *STORES)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Operation Error")
    alone: ClassVar[bool] = False

    @property
    def truth(self) -> GroundTruth:
        """The DNS server."""
        return replace(super().truth, component=DNS, also_right=(f"{SYSTEM}/{DNS}", "kube-dns"))


@dataclass(frozen=True)
class CorefileFault(ClusterDnsFault):
    """A wrong change of the DNS server's configuration."""

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The ConfigMap."""
        return (("configmaps", DNS, SYSTEM),)

    @abstractmethod
    def edit(self, text: str, name: str) -> str:
        """Return the changed Corefile; ``name`` is the full name of the target's Service."""

    def change(self, site: Site) -> None:
        """Write the Corefile and restart the DNS server."""
        text: str = at(site.find("configmaps", DNS, SYSTEM), "data", "Corefile")
        changed = self.edit(text, f"{self.target}.{site.namespace}.svc.cluster.local")
        site.patch("configmap", DNS, {"data": {"Corefile": changed}}, namespace=SYSTEM)
        _restart_server(site)

    def recover(self, site: Site) -> None:
        """Restore the Corefile, and restart the DNS server and those that wait because they found no address."""
        super().recover(site)
        _restart_server(site)
        site.run(f"kubectl -n {SYSTEM} rollout status deployment/{DNS} --timeout=25s")
        restart_unready_pods(site, ())


def _restart_server(site: Site) -> None:
    site.run(f"kubectl -n {SYSTEM} delete pods -l k8s-app=kube-dns")


def add_rule(text: str, rule: str) -> str:
    """Return a Corefile with a rule in front of the cluster's names."""
    return text.replace(FIRST_PLUGIN, f"{rule}\n{FIRST_PLUGIN}", 1)

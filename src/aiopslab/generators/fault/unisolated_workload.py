"""A tool for a partner runs in the application's namespace without a NetworkPolicy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import Purpose, draw_from
from aiopslab.generators.site import DEPLOYMENTS, Site

POLICY: Final = "networkpolicies.networking.k8s.io"
LABEL: Final = {"exposure": "partner"}
"""The label of pods that must be isolated."""


@fault
@dataclass(frozen=True)
class UnisolatedWorkload(DeclaredFault):
    """Any pod can connect to a partner's tool that exports the data of a service."""

    tool: str = draw_from("export", "sync", "feed")
    name: ClassVar[str] = "unisolated_workload"
    purpose: ClassVar[Purpose] = "policy"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The Deployment of the tool, and a NetworkPolicy of the same name."""
        name = f"{self.target}-{self.tool}"
        return (DEPLOYMENTS, name), (POLICY, name)

    def release(self, site: Site) -> None:
        """Deploy the tool."""
        name = self.concerned[0][1]
        container = {"name": self.tool, "image": "busybox:1.36", "command": ["sleep", "infinity"]}
        template = {"metadata": {"labels": {"app": name, **LABEL}}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        site.add("apps/v1", "Deployment", name, {"spec": spec})

    def recover(self, site: Site) -> None:
        """Admit only pods of the same namespace."""
        name = self.concerned[1][1]
        rule: dict[str, Any] = {"from": [{"podSelector": {}}]}
        spec = {"podSelector": {"matchLabels": {"app": name}}, "policyTypes": ["Ingress"], "ingress": [rule]}
        site.add("networking.k8s.io/v1", "NetworkPolicy", name, {"spec": spec})

    def present(self, site: Site) -> bool:
        """Return whether the tool has no NetworkPolicy, or was removed."""
        return any(site.find(*resource) is None for resource in self.concerned)

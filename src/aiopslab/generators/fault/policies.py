"""Faults of network policies: a new policy forbids traffic that the application needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.declared import DeclaredFault
from aiopslab.generators.fault.drawn import STORES, draw_from
from aiopslab.generators.site import Site


@dataclass(frozen=True)
class PolicyFault(DeclaredFault):
    """A new policy for the target's pods."""

    policy: str = draw_from("baseline", "zero-trust", "tenant-isolation", "hardening", "restrict-traffic")
    roles: ClassVar[tuple[Role, ...]] = ("service", *STORES)
    also_fault_types: ClassVar[tuple[str, ...]] = ("Network/Storage Issue", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """The policy."""
        return (("networkpolicies.networking.k8s.io", self.policy),)

    @abstractmethod
    def build_rules(self, site: Site) -> Mapping[str, Any]:
        """Return the policy's spec without the selection of pods."""

    def release(self, site: Site) -> None:
        """Apply the policy."""
        labels = site.get_deployment(self.target)["spec"]["selector"]["matchLabels"]
        spec = {"podSelector": {"matchLabels": labels}, **self.build_rules(site)}
        site.add("networking.k8s.io/v1", "NetworkPolicy", self.policy, {"spec": spec})


@dataclass(frozen=True)
class IngressPolicyFault(PolicyFault):
    """A new policy that lets too little in; it does not end connections, so its callers are restarted."""

    def release(self, site: Site) -> None:
        """Apply the policy and restart the callers."""
        super().release(site)
        site.restart_callers(self.target)

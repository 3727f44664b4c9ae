"""A network policy permits callers of another namespace only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.policies import IngressPolicyFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PolicyWrongNamespace(IngressPolicyFault):
    """A policy is copied from another environment and still names that environment's namespace."""

    source: str = draw_from("production", "staging", "default", "platform")
    name: ClassVar[str] = "policy_wrong_namespace"

    def build_rules(self, site: Site) -> Mapping[str, Any]:
        """Permit the other namespace."""
        selector = {"matchLabels": {"kubernetes.io/metadata.name": self.source}}
        return {"policyTypes": ["Ingress"], "ingress": [{"from": [{"namespaceSelector": selector}]}]}

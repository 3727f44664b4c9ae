"""A network policy permits callers by a label that they do not have."""

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
class PolicyWrongLabel(IngressPolicyFault):
    """A policy is written for labels of a convention that the application does not follow."""

    label: tuple[str, str] = draw_from(
        ("tier", "backend"), ("access", "internal"), ("role", "client"), ("zone", "trusted")
    )
    name: ClassVar[str] = "policy_wrong_label"

    def build_rules(self, site: Site) -> Mapping[str, Any]:
        """Permit pods with the label."""
        selector = {"matchLabels": dict([self.label])}
        return {"policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": selector}]}]}

"""A network policy lets nothing reach a component."""

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
class IsolatingPolicy(IngressPolicyFault):
    """A security team denies by default and postpones the rules that permit."""

    directions: tuple[str, ...] = draw_from(("Ingress",), ("Ingress", "Egress"))
    name: ClassVar[str] = "isolating_policy"

    def build_rules(self, site: Site) -> Mapping[str, Any]:
        """Return no rules at all."""
        return {"policyTypes": list(self.directions)}

"""A network policy permits another port than the one a component listens on."""

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
class PolicyWrongPort(IngressPolicyFault):
    """A new policy permits the application's own pods, at a port that somebody mistyped or took from another component."""

    shift: int = draw_from(1, -1, 10, 100, -1000)
    name: ClassVar[str] = "policy_wrong_port"

    def build_rules(self, site: Site) -> Mapping[str, Any]:
        """Permit the wrong port."""
        port = {"protocol": "TCP", "port": site.get_port(self.target) + self.shift}
        return {"policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {}}], "ports": [port]}]}

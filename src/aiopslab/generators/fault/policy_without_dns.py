"""A network policy permits what a component calls, but not DNS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from aiopslab.apps import Role
from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.policies import PolicyFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class PolicyWithoutDns(PolicyFault):
    """A team permits calls inside the namespace only and forgets that names are resolved in another one."""

    name: ClassVar[str] = "policy_without_dns"
    roles: ClassVar[tuple[Role, ...]] = ("service", "front end")

    def build_rules(self, site: Site) -> Mapping[str, Any]:
        """Permit calls to the application's own pods."""
        return {"policyTypes": ["Egress"], "egress": [{"to": [{"podSelector": {}}]}]}

    def release(self, site: Site) -> None:
        """Apply the policy and restart the component, which resolves the names again."""
        super().release(site)
        site.restart(self.target)

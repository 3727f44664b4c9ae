"""Pods ask the node's name servers, which do not know the cluster's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.declared import ReleasedFault
from aiopslab.generators.site import Site


@fault
@dataclass(frozen=True)
class WrongDnsPolicy(ReleasedFault):
    """A team sets the DNS policy ``Default``, which is not the default."""

    name: ClassVar[str] = "wrong_dns_policy"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Dependency Problem", "Network/Storage Issue")

    def release(self, site: Site) -> None:
        """Roll out the policy."""
        site.set_pods(self.target, dnsPolicy="Default")

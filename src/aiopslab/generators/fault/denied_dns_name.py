"""The DNS server denies that a Service's name exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.cluster_dns import CorefileFault, add_rule
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class DeniedDnsName(CorefileFault):
    """An operator blocks a name for the time of a maintenance and forgets the rule."""

    code: str = draw_from("NXDOMAIN", "SERVFAIL", "REFUSED")
    name: ClassVar[str] = "denied_dns_name"

    def edit(self, text: str, name: str) -> str:
        """Add the rule."""
        return add_rule(text, f"    template ANY ANY {name} {{\n       rcode {self.code}\n    }}")

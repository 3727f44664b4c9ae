"""The DNS server has a fixed entry with an old address for a Service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.cluster_dns import CorefileFault, add_rule
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class StaleDnsHost(CorefileFault):
    """An operator pins the address of a Service in the Corefile; it is that of an earlier cluster."""

    address: str = draw_from("10.96.254.17", "10.100.31.8", "10.244.0.231", "172.20.14.92")
    name: ClassVar[str] = "stale_dns_host"

    def edit(self, text: str, name: str) -> str:
        """Add the entry."""
        return add_rule(text, f"    hosts {{\n       {self.address} {name}\n       fallthrough\n    }}")

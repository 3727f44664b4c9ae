"""The DNS server looks up another name than the one it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.cluster_dns import CorefileFault, add_rule
from aiopslab.generators.fault.drawn import draw_from


@fault
@dataclass(frozen=True)
class WrongDnsRewrite(CorefileFault):
    """A rewrite rule of a migration leads a Service's name to a namespace that does not exist."""

    namespace: str = draw_from("legacy", "green", "production", "next")
    name: ClassVar[str] = "wrong_dns_rewrite"

    def edit(self, text: str, name: str) -> str:
        """Add the rule."""
        return add_rule(text, f"    rewrite name {name} {self.target}.{self.namespace}.svc.cluster.local")

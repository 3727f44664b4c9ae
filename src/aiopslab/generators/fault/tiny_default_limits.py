"""A LimitRange gives containers without a memory limit too small a one, so new ones are killed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import BlockedPods
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.site import Site, restart_unready_pods
from simcloud.kubernetes.api import at, quantity


@fault
@dataclass(frozen=True)
class TinyDefaultLimits(BlockedPods):
    """The platform team gives every container a default memory limit, which suits sidecars; it holds for new pods."""

    memory: str = draw_from("8Mi", "10Mi", "12Mi")
    limit_range: str = draw_from("container-defaults", "memory-defaults", "sidecar-sizes", "mem-limit-range")
    name: ClassVar[str] = "tiny_default_limits"
    also_fault_types: ClassVar[tuple[str, ...]] = ("Operation Error",)

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The LimitRange."""
        return (("limitranges", self.limit_range),)

    def release(self, site: Site) -> None:
        """Create the LimitRange."""
        sizes = {name: {"memory": self.memory} for name in ("default", "defaultRequest")}
        site.add("v1", "LimitRange", self.limit_range, {"spec": {"limits": [{"type": "Container", **sizes}]}})

    def recover(self, site: Site) -> None:
        """Delete the LimitRange, and replace all pods that got its limit."""
        super().recover(site)
        restart_unready_pods(site, (self.target,))

    def present(self, site: Site) -> bool:
        """Return whether new containers get a limit below what a pod of the application uses."""
        rules = at(site.find(*self.causes[0]), "spec", "limits", default=[])
        limits = [
            quantity.parse(rule["default"]["memory"]) for rule in rules if "memory" in rule.get("default", {})
        ]
        used = [
            quantity.parse(line.split()[2]) for line in site.kubectl("top pods --no-headers").splitlines()
        ]
        small = quantity.parse(self.memory)  # pods that were killed with it use no memory
        return any(limit <= small or limit < max(used, default=limit) for limit in limits)

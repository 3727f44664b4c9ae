"""A component can send only little per second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.pod_network import PodNetworkFault


@fault
@dataclass(frozen=True)
class NarrowBandwidth(PodNetworkFault):
    """An operator limits the bandwidth of a component's pods and writes kbit where Mbit was meant."""

    rate: str = draw_from("8kbit", "10kbit", "12kbit")
    name: ClassVar[str] = "narrow_bandwidth"

    @property
    def discipline(self) -> str:
        """Limit the rate."""
        return f"tbf rate {self.rate} burst 1600 latency 2s"

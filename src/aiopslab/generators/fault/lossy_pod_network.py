"""Packets of a component are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.pod_network import PodNetworkFault


@fault
@dataclass(frozen=True)
class LossyPodNetwork(PodNetworkFault):
    """An operator tries how the application bears lost packets, and leaves the setting at a component's pods."""

    percent: int = draw_from(35, 45, 55)
    name: ClassVar[str] = "lossy_pod_network"

    @property
    def discipline(self) -> str:
        """Lose a share of the packets."""
        return f"netem loss {self.percent}%"

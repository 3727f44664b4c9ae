"""Packets of a component are delayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.pod_network import PodNetworkFault

MAX_DELAY_S: Final = 3600.0


@fault
@dataclass(frozen=True)
class NetworkDelay(PodNetworkFault):
    """An operator tries how the application bears a slow network, and leaves every packet of a component's pods delayed."""

    delay_s: float = draw_from(10.0, 0.4, 1.0, 2.5)
    name: ClassVar[str] = "network_delay"
    symptomatic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.delay_s <= MAX_DELAY_S:
            raise ValueError(
                f"delay_s must be above 0 and at most {MAX_DELAY_S:g} seconds, not {self.delay_s!r}."
            )

    @property
    def discipline(self) -> str:
        """Delay every packet."""
        return f"netem delay {self.delay_s * 1000:g}ms"

"""Faults of a pod's network: an operator's queueing discipline at the exit of its interface, which ends with the pod."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.apps import Role
from aiopslab.generators.fault.packet_rules import PacketFault
from aiopslab.generators.site import Site

HARMFUL: Final = ("netem", "tbf")
"""The disciplines that delay or drop packets; a healthy interface has none."""
SHOW: Final = "tc qdisc show dev eth0"
REMOVE: Final = "tc qdisc del dev eth0 root 2> /dev/null || true"


@dataclass(frozen=True)
class PodNetworkFault(PacketFault):
    """The packets that the target's pods send are delayed or lost."""

    roles: ClassVar[tuple[Role, ...]] = ("service", "front end")
    also_levels: ClassVar[tuple[str, ...]] = ("Virtualization",)
    restart_repairs: ClassVar[bool] = True

    @property
    @abstractmethod
    def discipline(self) -> str:
        """The discipline with its settings, as ``tc`` takes them."""

    def inject(self, site: Site) -> None:
        """Set the discipline."""
        site.run_in_networks(self.target, f"tc qdisc replace dev eth0 root {self.discipline}")

    def recover(self, site: Site) -> None:
        """Remove the discipline."""
        site.run_in_networks(self.target, REMOVE)

    def present(self, site: Site) -> bool:
        """Return whether a pod has a discipline that does harm."""
        return any(map(does_harm, site.run_in_networks(self.target, SHOW)))


def does_harm(shown: str) -> bool:
    """Return whether ``tc`` shows a discipline that delays or drops packets."""
    return any(f"qdisc {kind} " in shown for kind in HARMFUL)

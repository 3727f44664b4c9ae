"""A capture that an engineer left running on a node fills its disk, until the kubelet evicts pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from aiopslab.generators.fault.base import Capability, Layer, fault
from aiopslab.generators.fault.drawn import draw_from
from aiopslab.generators.fault.growing import Failure, GrowingFault, Level
from aiopslab.generators.site import Site

FILE: Final = "/var/tmp/capture.pcap"
PERIOD_S: Final = 10
ROTATED_BYTES: Final = 1 << 30
LEAST_AVAILABLE: Final = 0.10
"""Share of the disk below which the kubelet evicts pods."""


@fault
@dataclass(frozen=True)
class DiskFilling(GrowingFault):
    """A file grows on the node that the target runs on."""

    mib_per_min: int = draw_from(240, 320, 450)
    name: ClassVar[str] = "disk_filling"
    layer: ClassVar[Layer] = "operating system"
    fault_type: ClassVar[str] = "Operation Error"
    needs: ClassVar[tuple[Capability, ...]] = ("node access",)
    declared: ClassVar[bool] = False
    failure: ClassVar[Failure] = "disk full"

    @property
    def concerned(self) -> tuple[tuple[str, ...], ...]:
        """No declared objects."""
        return ()

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        """Return the nodes that have the file."""
        return tuple(
            node for node in site.list_nodes() if site.node_shell(node, f"ls {FILE} 2> /dev/null || true")
        )

    def find_failing_component(self, site: Site) -> str:
        """Return the node."""
        return self.machines_at_fault(site)[0]

    def release(self, site: Site) -> None:
        """Start the program on the node of the target's first pod."""
        grow = f"fallocate -l $(($(stat -c %s {FILE}) + {self.mib_per_min * 2**20 * PERIOD_S // 60})) {FILE}"
        rotate = (
            f"[ $(stat -c %s {FILE}) -lt {ROTATED_BYTES} ] || mv {FILE} {FILE}.1; " if self.bounded else ""
        )
        script = f"while true; do touch {FILE}; {grow}; {rotate}sleep {PERIOD_S}; done"
        site.node_shell(site.nodes_of(self.target)[0], f"nohup sh -c '{script}' > /dev/null 2>&1 &")

    def recover(self, site: Site) -> None:
        """End the program and delete its files."""
        for node in self.machines_at_fault(site):
            site.node_shell(node, "pkill -f [c]apture.pcap || true")
            site.node_shell(node, f"rm -f {FILE} {FILE}.1")

    def present(self, site: Site) -> bool:
        """Return whether the program runs."""
        nodes = self.machines_at_fault(site)
        return any(site.node_shell(node, "pgrep -f [c]apture.pcap || true") for node in nodes)

    def measure(self, site: Site) -> Level:
        """Read the free space of the node's disk."""
        node = self.find_failing_component(site)
        total, available = site.node_shell(node, "df -k --output=size,avail / | tail -n 1").split()
        return Level(int(total) - int(available), int(total) * (1 - LEAST_AVAILABLE))

    def has_failed(self, site: Site) -> bool:
        """Return whether the node reports that its disk is full."""
        condition = '{.status.conditions[?(@.type=="DiskPressure")].status}'
        return (
            site.run(f"kubectl get node {self.find_failing_component(site)} -o jsonpath='{condition}'")
            == "True"
        )

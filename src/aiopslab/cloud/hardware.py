"""The hardware of simulated machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiopslab.generators import Defect
from simcloud.machine import Machine

VARIATION: Final = 0.25
"""The share by which the times between two power losses differ."""


class MachineHardware:
    """The hardware of one simulated machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._has_unsteady_power = False

    @property
    def defects(self) -> tuple[Defect, ...]:
        """What is defective now."""
        machine = self._machine
        disk, card = machine.disk, machine.network.machines[machine.name]
        found: Mapping[Defect, bool] = {
            "power": not machine.running,
            "unsteady power": self._has_unsteady_power,
            "lost directory": disk.lost_directory is not None,
            "failed writes": disk.fail_writes is True,
            "network card": bool(card.ingress.corruption),
            "stolen cpu": machine.cpu.speed < 1,
            "mounts": machine.mounts_exhausted,
        }
        return tuple(defect for defect, is_there in found.items() if is_there)

    def lose_power(self) -> None:
        """Turn it off without notice."""
        self._machine.lose()

    def lose_power_often(self, on_s: float, off_s: float) -> None:
        """Turn it off without notice again and again: it runs for about ``on_s``, and is off for ``off_s``."""
        self._has_unsteady_power = True
        self._machine.kernel.spawn(self._cut_power(on_s, off_s), f"{self._machine.name}: power supply")

    async def _cut_power(self, on_s: float, off_s: float) -> None:
        machine, kernel = self._machine, self._machine.kernel
        chance = kernel.random(f"{machine.name}/power supply")
        while machine.running:  # an operator may turn it off for good
            machine.lose()
            await kernel.sleep(off_s)
            machine.boot()
            await kernel.sleep(on_s * chance.uniform(1 - VARIATION, 1 + VARIATION))

    def lose_directory(self, path: str) -> None:
        """Make the block of a directory unreadable."""
        self._machine.disk.lose_directory(path, self._machine.host.files.stat(path).ino)

    def fail_writes(self) -> None:
        """Make the disk fail all writes, so that its file system becomes read-only."""
        self._machine.disk.fail_writes = True

    def damage_packets(self, share: float) -> None:
        """Make the network card damage a share of the packets that it receives."""
        self._machine.network.machines[self._machine.name].ingress.corruption = share

    def steal_cpu(self, share: float) -> None:
        """Let the hypervisor give a share of the machine's CPU time to others."""
        self._machine.cpu.speed = 1 - share

    def exhaust_mounts(self) -> None:
        """Leave the kernel without memory for mounts until it boots again."""
        self._machine.mounts_exhausted = True

"""The CPU time of a node's own work: starting containers and pulling images take longer on a busy machine."""

from __future__ import annotations

from typing import Final

from simcloud.machine import Machine

TURN_S: Final = 0.02
"""Those who work at the same time take turns of so long."""


async def work(machine: Machine, cpu_s: float, service: str) -> None:
    """Use a machine's processors for so long, in turns with whoever else does, on the account of a service."""
    kernel, cpu = machine.kernel, machine.host.cpu
    unit = machine.units.get(service)
    if unit is not None and unit.process is not None:
        unit.process.cpu_s += cpu_s
    left_s = cpu_s
    while left_s > 1e-9:
        turn_s = min(left_s, TURN_S)
        await kernel.sleep(cpu.charge(kernel.now, turn_s) - kernel.now)
        left_s -= turn_s

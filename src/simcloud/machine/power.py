"""Turning a machine off, or off and on again, in good order or not.

In good order every process is asked to end and has a while for it, and what was written reaches the disk; the machine
is then as silent as one whose power was cut. Boot takes its time, and ends with the start of the machine's services.
"""

from __future__ import annotations

from typing import Final

from simcloud.machine.process import Process, Signal
from simcloud.machine.process.context import ProgramMachine
from simcloud.machine.units import STOP_TIMEOUT_S

BOOT_S: Final = 30.0
LOOK_S: Final = 0.25
OFF_S: Final = 1.0
"""From the last process's end until the power goes."""


def turn_off(machine: ProgramMachine, *, again: bool, orderly: bool = True) -> None:
    """Begin to turn a machine off; ``again`` brings it back. Out of order it is off at once, its disk synced."""
    machine.off_at = machine.kernel.now
    machine.kernel.spawn(
        _off(machine, again, orderly), f"{machine.name}: {'reboot' if again else 'power off'}"
    )


async def _off(machine: ProgramMachine, again: bool, orderly: bool) -> None:
    kernel = machine.kernel
    if orderly:
        for unit in machine.units.values():
            unit.stop()
        for process in _others(machine):
            process.send(Signal.TERM, outside=True)
        deadline = kernel.now + STOP_TIMEOUT_S
        while _others(machine) and kernel.now < deadline:
            await kernel.sleep(LOOK_S)
        await kernel.sleep(OFF_S)
    if not machine.running:
        return
    for container in machine.containers.values():
        container.files.sync()
    machine.lose()
    if again:
        await kernel.sleep(BOOT_S)
        machine.boot()


def _others(machine: ProgramMachine) -> list[Process]:
    """All processes but the first."""
    return [process for pid, process in machine.processes.items() if pid != 1]

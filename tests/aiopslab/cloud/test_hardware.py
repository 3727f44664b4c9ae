"""Defects of a simulated machine's hardware, and what is seen of them."""

from __future__ import annotations

import pytest

from aiopslab.cloud.hardware import MachineHardware
from simcloud.machine import Machine
from simcloud.machine.proc import cpu_times
from simcloud.world import World


@pytest.fixture
def machine() -> Machine:
    return World(2).add_machine("node-1")


def test_a_healthy_machine_has_no_defects(machine: Machine) -> None:
    assert MachineHardware(machine).defects == ()


def test_a_machine_without_power_boots_only_if_its_supply_is_unsteady(machine: Machine) -> None:
    hardware, boots = MachineHardware(machine), machine.boots
    hardware.lose_power_often(on_s=100.0, off_s=30.0)
    machine.kernel.run_for(1.0)
    assert hardware.defects == ("power", "unsteady power")
    machine.kernel.run_for(40.0)
    assert hardware.defects == ("unsteady power",)
    machine.kernel.run_for(600.0)
    assert machine.boots > boots + 2


def test_stolen_time_shows_as_steal(machine: Machine) -> None:
    hardware = MachineHardware(machine)
    hardware.steal_cpu(0.75)
    assert hardware.defects == ("stolen cpu",)
    before = cpu_times(machine, 100.0)[7]
    assert machine.host.cpu.charge(machine.kernel.now, 1.0) >= machine.kernel.now + 4.0
    assert cpu_times(machine, 100.0)[7] - before == pytest.approx(300, abs=60)


def test_a_disk_that_fails_writes_and_a_card_that_damages_packets(machine: Machine) -> None:
    hardware = MachineHardware(machine)
    hardware.fail_writes()
    hardware.damage_packets(0.5)
    assert hardware.defects == ("failed writes", "network card")

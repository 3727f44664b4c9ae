"""CPU time as arithmetic: cores, quotas, oversubscribed machines."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.machine.process.cpu import ContainerCpu, MachineCpu


def test_work_queues_for_the_core_that_is_free_first() -> None:
    cpu = ContainerCpu(MachineCpu(cores=2))
    assert [cpu.charge(0.0, 1.0) for _ in range(4)] == [1.0, 1.0, 2.0, 2.0]
    assert cpu.used_s == 4.0


def test_a_quota_is_spent_in_periods_of_a_tenth_of_a_second() -> None:
    cpu = ContainerCpu(MachineCpu(cores=4), limit=0.5)
    assert cpu.charge(0.0, 0.05) == pytest.approx(0.05)
    assert cpu.charge(0.05, 0.05) == pytest.approx(0.15), "the second half must wait for the next period"
    assert cpu.throttled_periods >= 1
    assert cpu.throttled_s == pytest.approx(0.05)


def test_half_a_core_takes_twice_as_long_in_the_long_run() -> None:
    cpu = ContainerCpu(MachineCpu(cores=4), limit=0.5)
    assert cpu.charge(0.0, 10.0) == pytest.approx(19.95, abs=0.06)


def test_a_machine_that_is_asked_for_too_much_slows_everybody_down() -> None:
    machine = MachineCpu(cores=2)
    containers = [ContainerCpu(machine) for _ in range(4)]
    for second in range(5):
        for container in containers:
            for _ in range(2):
                container.charge(float(second), 1.0 / machine.slowdown)
    assert machine.slowdown == pytest.approx(4.0, rel=0.05)
    machine.settle(100.0)
    assert machine.slowdown == 1.0


def test_load_averages_follow_demand() -> None:
    machine = MachineCpu(cores=4)
    container = ContainerCpu(machine)
    for tenth in range(600):
        container.charge(tenth / 10, 0.1)
        container.charge(tenth / 10, 0.1)
    machine.settle(60.0)
    one, five, fifteen = machine.load
    assert 1.0 < one < 2.0
    assert one > five > fifteen > 0.0


def test_cores_do_no_more_than_they_can() -> None:
    machine = MachineCpu(cores=2)
    container = ContainerCpu(machine)
    for second in range(100):
        container.charge(float(second), 2.5)
    machine.settle(100.0)
    assert 190.0 < machine.used_s <= 200.0


def test_a_slower_core_takes_longer() -> None:
    assert ContainerCpu(MachineCpu(cores=1, speed=0.25)).charge(0.0, 1.0) == 4.0


@given(
    st.floats(0.05, 4.0),
    st.lists(st.tuples(st.floats(0.0, 0.3), st.floats(0.0001, 0.4)), min_size=1, max_size=40),
)
def test_no_period_gives_more_than_the_quota(limit: float, work: list[tuple[float, float]]) -> None:
    cpu = ContainerCpu(MachineCpu(cores=8), limit=limit)
    now, last_end, total = 0.0, 0.0, 0.0
    for gap, seconds in work:
        now += gap
        end = cpu.charge(now, seconds)
        assert end >= now + seconds - 1e-9
        last_end, total = max(last_end, end), total + seconds
    periods = int(last_end / 0.1) + 1
    assert total <= periods * limit * 0.1 + 1e-6

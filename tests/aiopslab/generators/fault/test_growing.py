"""What grows fails when it was foretold to fail, and what is bounded does not grow on."""

from __future__ import annotations

import pytest

from aiopslab.apps.base import Application
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.apps.socialnet import SocialNetwork
from aiopslab.cloud import find_changes
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.connection_leak import ConnectionLeak
from aiopslab.generators.fault.disk_filling import DiskFilling
from aiopslab.generators.fault.growing import GrowingFault
from aiopslab.generators.fault.spool_filling import SpoolFilling
from aiopslab.generators.fault.worker_leak import WorkerLeak
from aiopslab.orchestrator.tasks import PredictionTask

TARGETS = {
    HotelReservation: ("user", "rate", "search", "memcached-profile"),
    SocialNetwork: ("user-service", "text-service", "media-service", "user-memcached"),
}
CLOSE = 1.2
"""The real time may differ from the foretold one by this factor."""


def make_faults(app: type[Application], bounded: bool = False) -> list[GrowingFault]:
    """Faults that fail after half an hour; that of a node last, because its pods move then."""
    first, second, third, cache = TARGETS[app]
    return [
        WorkerLeak(first, bounded=bounded, period_s=8),
        SpoolFilling(second, bounded=bounded, kib_per_min=1700),
        DiskFilling(third, bounded=bounded, mib_per_min=600),
        ConnectionLeak(cache, bounded=bounded, period_s=2),
    ]


def settle(app: type[Application]) -> Environment:
    environment = Environment(app(), seed=5)
    environment.settle()
    environment.load.share = 0.02
    return environment


@pytest.mark.slow
@pytest.mark.parametrize("app", TARGETS)
def test_growth_ends_in_a_failure_at_the_foretold_time(app: type[Application]) -> None:
    environment = settle(app)
    tasks = [PredictionTask(environment.app, (fault,)) for fault in make_faults(app)]
    for task in tasks:
        task.environment = environment
        task.inject_fault()
    began_s = environment.now
    due = {task: task.get_expected() or {} for task in tasks}
    failed_min: dict[PredictionTask, float] = {}
    while len(failed_min) < len(tasks) and environment.now < began_s + 3600.0:
        environment.run_for(60.0)
        now = [task for task in tasks if task not in failed_min and task.faults[0].has_failed(environment)]  # type: ignore[attr-defined]
        failed_min |= dict.fromkeys(now, (environment.now - began_s) / 60)
    for task, expected in due.items():
        assert expected["within_min"] / CLOSE < failed_min[task] < expected["within_min"] * CLOSE, expected
    components = {expected["component"] for expected in due.values()}
    assert components - {component.name for component in environment.app.components} <= set(
        environment.machines
    )


@pytest.mark.slow
def test_bounded_growth_stays_far_from_its_capacity_and_can_be_undone() -> None:
    environment = settle(HotelReservation)
    before = environment.read_declared()
    faults = make_faults(HotelReservation, bounded=True)
    assert not any(fault.present(environment) for fault in faults)
    for fault in faults:
        fault.inject(environment)
    environment.mark_injected()
    environment.run_for(900.0)
    for fault in faults:
        level = fault.measure(environment)
        assert fault.present(environment)
        assert level.used < 0.6 * level.capacity, fault
        assert not fault.has_failed(environment)
        for _ in range(2):
            fault.recover(environment)
    assert not any(fault.present(environment) for fault in faults)
    assert find_changes(before, environment.read_declared()) == {}

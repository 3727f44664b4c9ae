"""Where starting pods anew is the repair: it is one for what is at fault, not for everything; and two faults want two repairs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.cloud.copies import Copy
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault
from aiopslab.generators.fault.pod_failure import PodFailure
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.oracles import judge_repair
from aiopslab.service.apps.hotelres import HotelReservation

NS = "test-hotel-reservation"
FAULTS: tuple[Fault, ...] = (PodFailure("user"), ScalePodZero("recommendation"))
NEW_POD = f"kubectl -n {NS} delete pod -l io.kompose.service=user"
BACK = f"kubectl -n {NS} scale deployment/recommendation --replicas=1"
LEFT_RUNNING = "what was well was left running"


def broken(seed: int) -> Environment:
    environment = Environment(HotelReservation(), seed)
    environment.settle()
    for fault in FAULTS:
        fault.inject(environment)
    environment.run_for(20.0)
    environment.write_off()
    return environment


def judged(environment: Environment, *lines: str) -> tuple[bool, str]:
    for line in lines:
        environment.operate(line)
    verdict = judge_repair(environment, FAULTS)
    return verdict.passed, str(verdict)


@pytest.fixture(scope="module")
def incident() -> Iterator[Copy[Environment]]:
    with Copy.of(broken, 3) as copy:
        yield copy


def outcome(incident: Copy[Environment], *lines: str) -> tuple[bool, str]:
    with incident.branch() as copy:
        return copy.call(judged, *lines)


def test_a_new_pod_and_a_restarted_neighbour_are_a_repair(incident: Copy[Environment]) -> None:
    passed, told = outcome(
        incident, NEW_POD, BACK, f"kubectl -n {NS} rollout restart deployment/frontend", "sleep 20"
    )
    assert passed, told
    assert f"ok  {LEFT_RUNNING}" in told


def test_restarting_what_was_well_is_none(incident: Copy[Environment]) -> None:
    passed, told = outcome(
        incident, NEW_POD, BACK, f"kubectl -n {NS} rollout restart deployment/search deployment/rate"
    )
    assert not passed
    assert f"NOT {LEFT_RUNNING}: 2 were started anew, rate, search among them" in told


def test_of_two_faults_both_must_be_gone(incident: Copy[Environment]) -> None:
    passed, told = outcome(incident, NEW_POD)
    assert not passed
    assert "ok  the root cause is gone: user" in told
    assert "NOT the root cause is gone: recommendation" in told

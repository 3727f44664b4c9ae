"""One family of problems from end to end: injected, seen, repaired at the terminal, judged by the whole system.

The judge must not be fooled: nothing done, everything restarted, things deleted or changed beyond need are no repairs.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.cloud.copies import Copy
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.oracles import judge_repair
from aiopslab.service.apps.hotelres import HotelReservation

SOAK_S = 60.0
NS = "test-hotel-reservation"
TARGETS = ("search", "user", "mongodb-reservation")


def prepared(seed: int) -> Environment:
    """The hotels, with users on them, and all is well."""
    environment = Environment(HotelReservation(), seed)
    environment.settle()
    return environment


def injected(environment: Environment, target: str) -> None:
    """Break it and let the trouble spread."""
    ScalePodZero(target).inject(environment)
    environment.run_for(SOAK_S)


def judged(environment: Environment, target: str, *lines: str) -> tuple[bool, str]:
    """Type what is thought to be a repair, and have it judged."""
    terminal = environment.terminal()
    for line in lines:
        done = terminal.run(line)
        assert done.status == 0, (line, done.stderr)
    verdict = judge_repair(environment, ScalePodZero(target))
    return verdict.passed, str(verdict)


def recovered(environment: Environment, target: str) -> tuple[bool, str]:
    """The fault's own way back, taken twice."""
    fault = ScalePodZero(target)
    fault.recover(environment)
    fault.recover(environment)
    verdict = judge_repair(environment, fault)
    return verdict.passed, str(verdict)


@pytest.fixture(scope="module")
def baseline() -> Iterator[Copy[Environment]]:
    with Copy.of(prepared, 3) as copy:
        yield copy


@pytest.fixture(scope="module", params=TARGETS)
def incident(
    baseline: Copy[Environment], request: pytest.FixtureRequest
) -> Iterator[tuple[Copy[Environment], str]]:
    with baseline.branch(injected, request.param) as copy:
        yield copy, request.param


def outcome(incident: tuple[Copy[Environment], str], *lines: str) -> tuple[bool, str]:
    copy, target = incident
    with copy.branch() as episode:
        return episode.call(judged, target, *(line.replace("{t}", target) for line in lines))


def test_a_good_repair_passes(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(incident, f"kubectl -n {NS} scale deployment/{{t}} --replicas=1")
    assert passed, told


def test_the_reference_repair_passes_and_may_be_done_twice(incident: tuple[Copy[Environment], str]) -> None:
    copy, target = incident
    with copy.branch() as episode:
        passed, told = episode.call(recovered, target)
    assert passed, told


def test_doing_nothing_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(incident)
    assert not passed
    assert "NOT the root cause is gone" in told


def test_restarting_everything_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(
        incident, f"kubectl -n {NS} rollout restart deployment", f"kubectl -n {NS} delete pods --all"
    )
    assert not passed
    assert "NOT the root cause is gone" in told


def test_deleting_the_workload_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(incident, f"kubectl -n {NS} delete deployment {{t}}")
    assert not passed
    assert "0 of 1 pods are ready" in told


def test_a_repair_that_breaks_something_else_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(
        incident,
        f"kubectl -n {NS} scale deployment/{{t}} --replicas=1",
        f"kubectl -n {NS} scale deployment/recommendation --replicas=3",
        f"kubectl -n {NS} create configmap notes --from-literal=a=b",
    )
    assert not passed
    assert "deployments/recommendation was changed" in told
    assert "configmaps/notes was added" in told


def test_lost_bookings_fail_a_repair(incident: tuple[Copy[Environment], str]) -> None:
    copy, target = incident
    forget = f"kubectl -n {NS} exec deploy/mongodb-reservation -- mongo --quiet reservation-db --eval 'db.reservation.deleteMany({{}})'"
    repair = f"kubectl -n {NS} scale deployment/{target} --replicas=1"
    wait = f"kubectl -n {NS} rollout status deployment/{target} --timeout=60s"
    with copy.branch() as episode:
        passed, told = episode.call(judged, target, repair, wait, "sleep 10", forget)
    assert not passed
    assert "NOT every write that was acknowledged is there" in told


def test_users_notice_what_they_should(baseline: Copy[Environment]) -> None:
    with baseline.branch(injected, "user") as copy:
        shares = copy.call(failed_shares)
    assert shares["user"] > 0.9
    assert shares["reserve"] > 0.9
    assert shares["search"] == shares["recommend"] == 0.0


def failed_shares(environment: Environment) -> dict[str, float]:
    """Of the last half minute, the share of each journey's requests that failed."""
    now = environment.now
    results = environment.users.results
    return {name: results.between(now - 32, now - 2, name).error_rate for name in results.journeys}

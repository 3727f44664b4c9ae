"""Faults from end to end: injected, seen, repaired at the terminal, judged by the whole system.

The judge must not be fooled: nothing done, everything restarted, things deleted or changed beyond need are no repairs. Nor
must it be petty: what a good engineer leaves behind while looking is no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, Site
from aiopslab.generators.fault.revoke_auth import RevokeAuth
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.oracles import judge_repair
from aiopslab.orchestrator.oracles.whole_system import QUIET_S, SETTLE_S
from aiopslab.orchestrator.tasks import MitigationTask
from simcloud.world.copies import Copy

SOAK_S = 60.0
NS = "test-hotel-reservation"
FORGET = (
    f"kubectl -n {NS} exec deploy/mongodb-reservation -- "
    "mongo --quiet reservation-db --eval 'db.reservation.deleteMany({})'"
)
LATE_PROGRAM = f"kubectl -n {NS} run watch --image=busybox:1.36 --restart=Never -- sleep 3600"
TARGETS = ("search", "user", "mongodb-reservation")


def injected(environment: Environment, target: str) -> None:
    """Break it and let the trouble spread."""
    ScalePodZero(target).inject(environment)
    environment.run_for(SOAK_S)
    environment.write_off()


def judged(environment: Environment, target: str, *lines: str) -> tuple[bool, str]:
    """Type what is thought to be a repair, and have it judged."""
    typed(environment, *lines)
    task = MitigationTask(environment.app, (ScalePodZero(target),))
    task.environment = environment
    results = task.eval(True, [], 42.0)
    assert results["TTM"] == 42.0
    assert results["repaired"] is results["success"]
    return results["success"], "\n".join(results["findings"])


def typed(environment: Environment, *lines: str) -> None:
    terminal = environment.terminal()
    for line in lines:
        done = terminal.run(line)
        assert done.status == 0, (line, done.stderr)


def recovered(environment: Environment, target: str) -> tuple[bool, str]:
    """The fault's own way back, taken twice."""
    fault = ScalePodZero(target)
    fault.recover(environment)
    fault.recover(environment)
    verdict = judge_repair(environment, [fault])
    return verdict.passed, str(verdict)


@pytest.fixture(scope="module", params=TARGETS)
def incident(
    hotels: Copy[Environment], request: pytest.FixtureRequest
) -> Iterator[tuple[Copy[Environment], str]]:
    with hotels.branch(injected, request.param) as copy:
        yield copy, request.param


def outcome(incident: tuple[Copy[Environment], str], *lines: str) -> tuple[bool, str]:
    copy, target = incident
    with copy.branch() as episode:
        return episode.call(judged, target, *(line.replace("{t}", target) for line in lines))


@pytest.mark.slow(keep=1)
def test_a_good_repair_passes(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(incident, f"kubectl -n {NS} scale deployment/{{t}} --replicas=1")
    assert passed, told


@pytest.mark.slow(keep=1)
def test_the_reference_repair_passes_and_may_be_done_twice(incident: tuple[Copy[Environment], str]) -> None:
    copy, target = incident
    with copy.branch() as episode:
        passed, told = episode.call(recovered, target)
    assert passed, told


@pytest.mark.slow(keep=1)
def test_doing_nothing_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(incident)
    assert not passed
    assert "NOT the root cause is gone" in told


@pytest.mark.slow(keep=1)
def test_restarting_everything_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(
        incident, f"kubectl -n {NS} rollout restart deployment", f"kubectl -n {NS} delete pods --all"
    )
    assert not passed
    assert "NOT the root cause is gone" in told


@pytest.mark.slow(keep=1)
def test_deleting_the_workload_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(incident, f"kubectl -n {NS} delete deployment {{t}}")
    assert not passed
    assert "0 of 1 pods are ready" in told


@pytest.mark.slow(keep=1)
def test_a_repair_that_breaks_something_else_fails(incident: tuple[Copy[Environment], str]) -> None:
    passed, told = outcome(
        incident,
        f"kubectl -n {NS} scale deployment/{{t}} --replicas=1",
        f"kubectl -n {NS} scale deployment/recommendation --replicas=3",
        f"kubectl -n {NS} create configmap notes --from-literal=a=b",
    )
    assert not passed
    assert "deployments/recommendation was changed (spec.replicas)" in told
    assert "configmaps/notes was added" in told


@pytest.mark.slow(keep=1)
def test_lost_bookings_fail_a_repair(incident: tuple[Copy[Environment], str]) -> None:
    copy, target = incident
    repair = f"kubectl -n {NS} scale deployment/{target} --replicas=1"
    wait = f"kubectl -n {NS} rollout status deployment/{target} --timeout=60s"
    with copy.branch() as episode:
        passed, told = episode.call(judged, target, repair, wait, "sleep 10", FORGET)
    assert not passed
    assert "NOT every acknowledged write is stored" in told


def test_what_an_engineer_leaves_behind_while_looking_is_no_harm(hotels: Copy[Environment]) -> None:
    with hotels.branch(injected, "user") as copy:
        passed, told = copy.call(
            judged,
            "user",
            f"kubectl -n {NS} run look --image=busybox:1.36 --restart=Never -- true",
            f"kubectl -n {NS} run watch --image=busybox:1.36 --restart=Never -- sleep 3600",
            f"kubectl -n {NS} debug deploy/frontend --image=busybox:1.36 -- true || true",
            "kubectl debug node/kind-worker --image=busybox:1.36 -- true",
            f"kubectl -n {NS} create job once --image=busybox:1.36 -- true",
            f"kubectl -n {NS} scale deployment/user --replicas=1",
        )
    assert passed, told


def test_a_repair_that_was_not_submitted_is_none(hotels: Copy[Environment]) -> None:
    with hotels.branch(injected, "user") as copy:
        results = copy.call(unsubmitted, "user")
    assert results["repaired"]
    assert not results["success"]


def unsubmitted(environment: Environment, target: str) -> dict[str, object]:
    ScalePodZero(target).recover(environment)
    task = MitigationTask(environment.app, (ScalePodZero(target),))
    task.environment = environment
    return task.eval(None, [], 1.0)


@pytest.mark.slow
def test_of_two_faults_both_must_be_repaired(hotels: Copy[Environment]) -> None:
    faults = (ScalePodZero("user"), RevokeAuth("mongodb-rate"))
    with hotels.branch(injected_all, faults) as copy:
        with copy.branch() as episode:
            passed, told = episode.call(repaired, faults[:1], faults)
        assert not passed
        assert "ok  the root cause is gone: user" in told
        assert "NOT the root cause is gone: mongodb-rate" in told
        with copy.branch() as episode:
            passed, told = episode.call(repaired, faults, faults)
        assert passed, told


def injected_all(environment: Environment, faults: tuple[Fault, ...]) -> None:
    for fault in faults:
        fault.inject(environment)
    environment.run_for(SOAK_S)


def repaired(
    environment: Environment, some: tuple[Fault, ...], faults: tuple[Fault, ...]
) -> tuple[bool, str]:
    for fault in some:
        fault.recover(environment)
    verdict = judge_repair(environment, faults)
    return verdict.passed, str(verdict)


@pytest.mark.slow
def test_where_nothing_is_wrong_nothing_must_be_broken(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        passed, told = copy.call(repaired, (), ())
    assert passed, told
    with hotels.branch(typed, f"kubectl -n {NS} scale deployment/user --replicas=0") as copy:
        passed, told = copy.call(repaired, (), ())
    assert not passed
    assert "deployments/user was changed" in told
    assert "0 of 1 pods are ready" in told


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("when", ["before", "after"])
def test_only_what_is_lost_during_the_session_is_held_against_it(
    hotels: Copy[Environment], when: str
) -> None:
    with hotels.branch() as copy:
        passed, told = copy.call(losing, when)
    assert passed is (when == "before"), told
    assert ("NOT every acknowledged write" in told) is (when == "after")


def losing(environment: Environment, when: str) -> tuple[bool, str]:
    """Bookings are destroyed, before or after the session begins."""
    if when == "before":
        typed(environment, FORGET)
    environment.write_off()
    if when == "after":
        typed(environment, FORGET)
    return repaired(environment, (), ())


def test_a_store_that_is_down_when_the_session_begins_has_lost_nothing(hotels: Copy[Environment]) -> None:
    with hotels.branch(injected, "mongodb-reservation") as copy:
        passed, told = copy.call(
            judged,
            "mongodb-reservation",
            f"kubectl -n {NS} scale deployment/mongodb-reservation --replicas=1",
            f"kubectl -n {NS} rollout status deployment/mongodb-reservation --timeout=25s",
            "sleep 5",
            FORGET,
        )
    assert not passed
    assert "NOT every acknowledged write" in told


def test_users_notice_what_they_should(hotels: Copy[Environment]) -> None:
    with hotels.branch(injected, "user") as copy:
        shares = copy.call(failed_shares)
    assert shares["user"] > 0.9
    assert shares["reserve"] > 0.9
    assert shares["search"] == shares["recommend"] == 0.0


def failed_shares(environment: Environment) -> dict[str, float]:
    """Of the last half minute, the share of each journey's requests that failed."""
    now = environment.now
    results = environment.users.results
    return {name: results.between(now - 32, now - 2, name).error_rate for name in results.journeys}


@pytest.mark.parametrize(("lines", "waits"), [((), False), ((LATE_PROGRAM,), True)])
def test_a_declared_cause_is_waited_for_only_while_a_program_may_still_remove_it(
    hotels: Copy[Environment], lines: tuple[str, ...], waits: bool
) -> None:
    with hotels.branch(injected, "user") as copy:
        passed, told, took_s = copy.call(timed, (ScalePodZero("user"),), *lines)
    assert not passed
    assert "NOT users and their writes: not observed, because the root cause remains" in told
    assert (took_s >= SETTLE_S) is waits
    assert waits or took_s == 0.0


@pytest.mark.parametrize(("delay_s", "passes"), [(30.0, True), (100.0, True), (400.0, False)])
def test_a_cause_that_ends_late_is_waited_for_while_something_is_under_way(
    hotels: Copy[Environment], delay_s: float, passes: bool
) -> None:
    with hotels.branch() as copy:
        passed, told, took_s = copy.call(timed, (Lingering("user", delay_s),), LATE_PROGRAM)
    assert passed is passes, told
    assert took_s > min(delay_s, SETTLE_S) - 5.0


@pytest.mark.parametrize("lines", [(), ("(sleep 60; echo done) &",)])
def test_a_cause_that_is_not_declared_is_waited_for_only_briefly_where_all_is_at_rest(
    hotels: Copy[Environment], lines: tuple[str, ...]
) -> None:
    with hotels.branch() as copy:
        passed, told, took_s = copy.call(timed, (Lingering("user", 400.0),), *lines)
    assert not passed, told
    assert took_s > QUIET_S if lines else took_s == QUIET_S


def test_users_who_recover_late_are_observed_once_more(hotels: Copy[Environment]) -> None:
    with hotels.branch(slowed, "frontend", 40.0) as copy:
        passed, told, took_s = copy.call(timed, ())
    assert passed, told
    assert took_s > SETTLE_S


def timed(environment: Environment, faults: tuple[Fault, ...], *lines: str) -> tuple[bool, str, float]:
    """Type lines and have the system judged; also return how long the judge let the world run."""
    typed(environment, *lines)
    began_s = environment.now
    verdict = judge_repair(environment, faults)
    return verdict.passed, str(verdict), environment.now - began_s


def slowed(environment: Environment, component: str, seconds: float) -> None:
    """Delay the packets of a component's pods beyond the users' patience for some time."""
    for machine in environment.machines.values():
        for container in machine.containers.values():
            if container.name.startswith(f"{component}-"):
                link = container.namespace.impairment
                environment.world.kernel.call_later(seconds, partial(setattr, link, "delay_s"), link.delay_s)
                link.delay_s = environment.timeout_s


@dataclass(frozen=True)
class Lingering(Fault):
    """A fault that ends by itself at some time, like a pod that is slow to terminate."""

    component: str
    end_s: float
    name: ClassVar[str] = "lingering"
    layer: ClassVar[Layer] = "virtualization"

    @property
    def truth(self) -> GroundTruth:
        return GroundTruth(self.component, "Virtualization", "Operation Error")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        return ()

    def inject(self, site: Site) -> None:
        raise NotImplementedError

    def recover(self, site: Site) -> None:
        raise NotImplementedError

    def present(self, site: Site) -> bool:
        assert isinstance(site, Environment)
        return site.now < site.baseline.end + self.end_s

"""Where starting pods anew is the repair: it is one for what is at fault, not for everything; and two faults want two repairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault, GroundTruth, Layer, Site
from aiopslab.generators.fault.pod_failure import PodFailure
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.orchestrator.oracles import judge_repair
from aiopslab.orchestrator.tasks import LocalizationTask
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"
FAULTS: tuple[Fault, ...] = (PodFailure("user"), ScalePodZero("recommendation", before=2))
NEW_POD = f"kubectl -n {NS} delete pod -l io.kompose.service=user"
BACK = f"kubectl -n {NS} scale deployment/recommendation --replicas=2"
LEFT_RUNNING = "healthy pods were left running"


def broken(environment: Environment) -> None:
    for fault in FAULTS:
        fault.inject(environment)
    environment.run_for(20.0)
    environment.write_off()


def judged(environment: Environment, *lines: str) -> tuple[bool, str]:
    for line in lines:
        environment.operate(line)
    verdict = judge_repair(environment, FAULTS)
    return verdict.passed, str(verdict)


@pytest.fixture(scope="module")
def incident(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with hotels.branch(broken) as copy:
        yield copy


def outcome(incident: Copy[Environment], *lines: str) -> tuple[bool, str]:
    with incident.branch() as copy:
        return copy.call(judged, *lines)


@pytest.mark.slow
def test_a_new_pod_and_a_restarted_neighbour_are_a_repair(incident: Copy[Environment]) -> None:
    passed, told = outcome(
        incident, NEW_POD, BACK, f"kubectl -n {NS} rollout restart deployment/frontend", "sleep 20"
    )
    assert passed, told
    assert f"ok  {LEFT_RUNNING}" in told


@pytest.mark.slow
def test_restarting_what_was_well_is_none(incident: Copy[Environment]) -> None:
    passed, told = outcome(
        incident, NEW_POD, BACK, f"kubectl -n {NS} rollout restart deployment/search deployment/rate"
    )
    assert not passed
    assert f"NOT {LEFT_RUNNING}: 2 were restarted, for example rate, search" in told


def test_of_two_faults_both_must_be_gone(incident: Copy[Environment]) -> None:
    passed, told = outcome(incident, NEW_POD)
    assert not passed
    assert "ok  the root cause is gone: user" in told
    assert "NOT the root cause is gone: recommendation" in told


@dataclass(frozen=True)
class BadNode(Fault):
    """A node is bad, for a service above all: it must not run there."""

    service: str
    node: str
    name: ClassVar[str] = "bad_node"
    layer: ClassVar[Layer] = "hardware"
    restart_repairs: ClassVar[bool] = True

    @property
    def truth(self) -> GroundTruth:
        return GroundTruth(self.service, "Hardware", "Network/Storage Issue")

    @property
    def concerned(self) -> tuple[tuple[str, str], ...]:
        return ()

    def machines_at_fault(self, site: Site) -> tuple[str, ...]:
        return (self.node,)

    def inject(self, site: Site) -> None:
        raise NotImplementedError

    def recover(self, site: Site) -> None:
        raise NotImplementedError

    def present(self, site: Site) -> bool:
        pods = f"kubectl -n {NS} get pods -o wide --no-headers | grep -c '^{self.service}-.* {self.node} '"
        return site.operate(f"{pods} || true").stdout.strip() != b"0"


def moved(environment: Environment, service: str, *lines: str) -> tuple[str, bool, str]:
    """What is well but for the node that runs the service is done, with that node in place of {n}, another for {o}."""
    selected = f"-l io.kompose.service={service}"
    pods = environment.operate(f"kubectl -n {NS} get pods {selected} -o wide --no-headers")
    node = pods.stdout.decode().split()[6]
    other = next(name for name in ("kind-worker", "kind-worker2") if name != node)
    for line in lines:
        environment.operate(line.replace("{n}", node).replace("{o}", other))
    task = LocalizationTask(environment.app, (BadNode(service, node),))
    task.environment = environment
    assert task.eval(task.submit([f"node/{node}"]), [], 1.0)["success"]
    assert not task.eval(task.submit([other]), [], 1.0)["success"]
    verdict = judge_repair(environment, [BadNode(service, node)])
    return node, verdict.passed, str(verdict)


DRAIN = "kubectl drain {n} --ignore-daemonsets --delete-emptydir-data --timeout=120s"
SERVICES = "frontend search geo rate profile recommendation user reservation"
TELL_CONSUL = f"kubectl -n {NS} rollout restart deployment {SERVICES}"
"""Consul ran on the node: where it starts anew it has forgotten where everybody is."""


@pytest.mark.parametrize(
    "service, lines",
    [
        ("consul", (DRAIN, TELL_CONSUL)),
        (
            "consul",
            (
                DRAIN,
                TELL_CONSUL,
                "kubectl taint node {n} disk=bad:NoSchedule",
                "kubectl label node {n} state=bad",
            ),
        ),
        ("user", ("kubectl cordon {n}", f"kubectl -n {NS} delete pod -l io.kompose.service=user")),
    ],
)
def test_a_node_that_is_at_fault_may_be_emptied_and_taken_out_of_use(
    hotels: Copy[Environment], service: str, lines: tuple[str, ...]
) -> None:
    with hotels.branch() as copy:
        _, passed, told = copy.call(moved, service, *lines)
    assert passed, told


def test_another_node_may_not(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        node, passed, told = copy.call(moved, "user", DRAIN, "kubectl cordon {o}")
    assert not passed
    assert "NOT nothing else was changed: nodes/kind-worker" in told
    assert f"nodes/{node} " not in told


def test_emptying_every_node_is_no_repair(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        _, passed, told = copy.call(
            moved, "user", DRAIN, "kubectl uncordon {n}", DRAIN.replace("{n}", "{o}"), "kubectl uncordon {o}"
        )
    assert not passed
    assert f"NOT {LEFT_RUNNING}" in told

"""Nodes on which nothing starts: what is seen of them, and which repairs count besides the reference."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.bad_node import BadNodeFault
from aiopslab.generators.fault.disk_woreout import DiskWoreout
from aiopslab.generators.fault.kernel_fault import KernelFault
from aiopslab.orchestrator.oracles import judge_repair
from aiopslab.orchestrator.tasks import LocalizationTask
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"
DISK, KERNEL = DiskWoreout("mongodb-reservation"), KernelFault("geo")


def settled(seed: int) -> Environment:
    environment = Environment(HotelReservation(), seed)
    environment.settle()
    return environment


def broken(environment: Environment, fault: BadNodeFault) -> None:
    fault.inject(environment)
    environment.run_for(30.0)
    environment.write_off()


@pytest.fixture(scope="module")
def baseline() -> Iterator[Copy[Environment]]:
    # With this seed Consul is on another node than the bad ones: if it moves, services must be restarted to be found again.
    with Copy.of(settled, 4) as copy:
        yield copy


@pytest.fixture(scope="module")
def worn(baseline: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with baseline.branch(broken, DISK) as copy:
        yield copy


@pytest.fixture(scope="module")
def leaking(baseline: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with baseline.branch(broken, KERNEL) as copy:
        yield copy


def typed(environment: Environment, fault: BadNodeFault, *lines: str) -> list[str]:
    (node,) = fault.machines_at_fault(environment)
    return [environment.operate(line.replace("NODE", node)).stdout.decode() for line in lines]


def judged(environment: Environment, fault: BadNodeFault, *lines: str) -> tuple[bool, str]:
    typed(environment, fault, *lines)
    verdict = judge_repair(environment, [fault])
    return verdict.passed, str(verdict)


def named(environment: Environment, fault: BadNodeFault) -> dict[str, bool]:
    task = LocalizationTask(HotelReservation(), [fault])
    task.environment = environment
    (node,) = fault.machines_at_fault(environment)
    other = next(name for name in environment.machines if name.startswith("kind-worker") and name != node)
    answers = {"the node": node, "the workload": fault.workload, "another node": other}
    return {what: task.eval(task.submit([name]), [], 1.0)["success"] for what, name in answers.items()}


@pytest.mark.slow
def test_a_worn_disk_shows_in_the_kernels_log_and_at_the_pod(worn: Copy[Environment]) -> None:
    with worn.branch() as copy:
        log, events = copy.call(typed, DISK, "ssh NODE dmesg", f"kubectl -n {NS} get events")
    assert "I/O error, dev sda" in log
    assert "Error: failed to create containerd container: " in events
    assert "/snapshots/new-" in events and ": input/output error" in events


def test_a_kernel_without_memory_shows_in_its_log_and_at_the_pod(leaking: Copy[Environment]) -> None:
    with leaking.branch() as copy:
        log, events = copy.call(typed, KERNEL, "ssh NODE dmesg", f"kubectl -n {NS} get events")
    assert "SLUB: Unable to allocate memory on node -1" in log
    assert 'error mounting "proc" to rootfs at "/proc"' in events


def test_the_node_is_a_right_answer_too(worn: Copy[Environment]) -> None:
    with worn.branch() as copy:
        assert copy.call(named, DISK) == {"the node": True, "the workload": True, "another node": False}


def test_draining_a_node_is_a_repair(worn: Copy[Environment]) -> None:
    drain = "kubectl drain NODE --ignore-daemonsets --delete-emptydir-data --force --timeout=25s || true"
    with worn.branch() as copy:
        passed, told = copy.call(judged, DISK, drain)
    assert passed, told


def test_a_pod_that_has_moved_leaves_a_bad_node_behind(worn: Copy[Environment]) -> None:
    """The next one that comes there does not start."""
    away = (
        "kubectl cordon NODE",
        f"kubectl -n {NS} delete pod -l io.kompose.service=mongodb-reservation",
        "kubectl uncordon NODE",
    )
    with worn.branch() as copy:
        passed, told = copy.call(judged, DISK, *away)
    assert not passed
    assert "NOT the root cause is gone" in told
    assert "pods are ready" not in told  # everything runs again, so users would be served


@pytest.mark.parametrize(("effect", "passes"), [("PreferNoSchedule", False), ("NoSchedule", True)])
def test_a_taint_that_only_asks_keeps_a_bad_node_in_use(
    worn: Copy[Environment], effect: str, passes: bool
) -> None:
    away = (
        f"kubectl taint node NODE disk=bad:{effect}",
        f"kubectl -n {NS} delete pods --field-selector spec.nodeName=NODE",
    )
    with worn.branch() as copy:
        passed, told = copy.call(judged, DISK, *away)
    assert passed is passes, told


def test_a_boot_is_a_repair_of_a_kernel(leaking: Copy[Environment]) -> None:
    with leaking.branch() as copy:
        passed, told = copy.call(judged, KERNEL, "ssh NODE reboot || true")
    assert passed, told


def test_a_boot_is_no_repair_of_a_disk(worn: Copy[Environment]) -> None:
    with worn.branch() as copy:
        passed, told = copy.call(judged, DISK, "ssh NODE reboot || true")
    assert not passed
    assert "NOT the root cause is gone" in told

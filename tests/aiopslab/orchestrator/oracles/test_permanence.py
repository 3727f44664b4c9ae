"""Faults that may return: a repair that only delays them fails, one that removes them passes and leaves the world as young as it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.container_kill import ContainerKill
from aiopslab.orchestrator.oracles import judge_repair
from aiopslab.orchestrator.oracles.permanence import LASTS_S, check_permanence
from simcloud.world.copies import Copy

NS = "test-hotel-reservation"
FAULT = ContainerKill("geo")
OTHER_PORT = {"tcpSocket": {"port": 8081}, "initialDelaySeconds": 3000, "periodSeconds": 5}
RIGHT_PORT = {"tcpSocket": {"port": 8083}, "initialDelaySeconds": 5}


def broken(environment: Environment) -> None:
    FAULT.inject(environment)
    environment.run_for(60.0)
    environment.write_off()


@pytest.fixture(scope="module")
def incident(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with hotels.branch(broken) as copy:
        yield copy


def judged(environment: Environment, probe: object) -> tuple[bool, str, float]:
    FAULT.patch(environment, {"livenessProbe": None})
    FAULT.patch(environment, {"livenessProbe": probe})
    began_s = environment.now
    verdict = judge_repair(environment, [FAULT])
    return verdict.passed, str(verdict), environment.now - began_s


@pytest.mark.parametrize("probe", [None, RIGHT_PORT], ids=["no probe", "the right port"])
def test_a_repair_that_lasts_passes(incident: Copy[Environment], probe: object) -> None:
    with incident.branch() as copy:
        passed, findings, took_s = copy.call(judged, probe)
    assert passed, findings
    assert "ok  the repair lasts" in findings
    assert took_s < LASTS_S


def test_a_wrong_probe_is_the_cause_however_late_it_begins(incident: Copy[Environment]) -> None:
    with incident.branch() as copy:
        passed, findings, _ = copy.call(judged, OTHER_PORT)
    assert not passed
    assert "NOT the root cause is gone: geo" in findings


def returns_later(environment: Environment, is_threaded: bool) -> tuple[str, float]:
    """Let a pod be deleted in some minutes, and have a repair judged that was good until then."""
    FAULT.patch(environment, {"livenessProbe": None})
    environment.run_for(30.0)
    patch = json.dumps({"spec": {"template": {"metadata": {"annotations": {"again": "yes"}}}}})
    environment.terminal().run(f"(sleep 200; kubectl -n {NS} patch deploy geo -p '{patch}') &")
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    if is_threaded:
        thread.start()
    began_s = environment.now
    why = check_permanence(environment, [FAULT])
    stop.set()
    return why, environment.now - began_s


@pytest.mark.parametrize("is_threaded", [False, True])
def test_what_returns_later_is_seen_and_the_world_does_not_get_older(
    incident: Copy[Environment], is_threaded: bool
) -> None:
    with incident.branch() as copy:
        why, took_s = copy.call(returns_later, is_threaded)
    assert why.startswith("4 min later the pod geo-")
    assert took_s == 0.0

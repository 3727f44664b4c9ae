"""After a redeployment beside old volumes: volumes may be renewed, too, as long as their data stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.redeploy_without_pv import DATABASES, RedeployWithoutPV
from aiopslab.generators.site import restart_unready_pods
from aiopslab.orchestrator.oracles import judge_repair
from simcloud.world.copies import Copy

FAULT = RedeployWithoutPV()
OWN = '.items |= map(select(.spec.claimRef.namespace == "test-hotel-reservation"))'
RENEW = (
    f"kubectl get pv -o json | jq '{OWN} | del(.items[].spec.claimRef)CHANGE' | kubectl replace --force -f -"
)
ELSEWHERE = ' | .items[].spec.hostPath.path |= sub("reservation-pv$"; "reservation-fresh")'


def break_volumes(environment: Environment) -> None:
    FAULT.inject(environment)
    environment.run_for(40.0)
    environment.write_off()


@pytest.fixture(scope="module")
def incident(hotels: Copy[Environment]) -> Iterator[Copy[Environment]]:
    with hotels.branch(break_volumes) as copy:
        yield copy


def looked(environment: Environment) -> str:
    lines = ("kubectl get pv", f"kubectl -n {environment.namespace} get pvc,events")
    return "".join(environment.operate(line).stdout.decode() for line in lines)


def judged(environment: Environment, change: str) -> tuple[bool, str]:
    environment.operate(RENEW.replace("CHANGE", change))
    restart_unready_pods(environment, DATABASES)
    verdict = judge_repair(environment, [FAULT])
    return verdict.passed, str(verdict)


@pytest.mark.slow
def test_volumes_are_released_and_claims_wait(incident: Copy[Environment]) -> None:
    with incident.branch() as copy:
        told = copy.call(looked)
    assert told.count(" Released ") == len(DATABASES)
    assert told.count(" Pending ") >= len(DATABASES)
    assert "unbound immediate PersistentVolumeClaims" in told


@pytest.mark.slow
def test_new_volumes_for_the_old_data_are_a_repair(incident: Copy[Environment]) -> None:
    with incident.branch() as copy:
        passed, told = copy.call(judged, "")
    assert passed, told


@pytest.mark.slow
def test_new_volumes_without_the_old_data_are_none(incident: Copy[Environment]) -> None:
    with incident.branch() as copy:
        passed, told = copy.call(judged, ELSEWHERE)
    assert not passed
    assert "NOT every acknowledged write is stored" in told

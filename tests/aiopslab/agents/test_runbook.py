"""The runbook agent finds and repairs what its runbook knows, through the actions alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aiopslab.agents.runbook import Runbook
from aiopslab.agents.runbook.causes import Cause
from aiopslab.agents.runbook.survey import Survey, parse_lines
from aiopslab.orchestrator.stages import Stages, run_episode

SEED = 41
MIXED = '{"kind":"Pod","name":"a"}\n{"t":"2026-01-05","c":"NETWORK"}\n{"kind":"Pod","na\nplain'


def test_only_whole_objects_of_its_own_are_read() -> None:
    assert list(parse_lines(MIXED)) == [{"kind": "Pod", "name": "a"}]


def test_a_callee_that_fails_because_of_its_own_callee_is_not_blamed() -> None:
    errors = [
        {"service": "frontend", "peer": "search", "value": 10.0},
        {"service": "search", "peer": "geo", "value": 10.0},
    ]
    assert Survey(calls={"Calls": errors, "Errors": errors}).bad_callees == ("geo",)


def test_a_cause_says_where_it_is() -> None:
    assert str(Cause(("geo",), "Application", "Code Defect", "it crashes")) == "geo: it crashes"


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(
    "pid",
    [
        "scale_pod_zero_social_net-mitigation-1",
        "k8s_target_port-misconfig-analysis-2",
        "revoke_auth_mongodb-localization-2",
        "noop_detection_hotel_reservation-1",
        "misconfig_app_hotel_res-mitigation-1",
    ],
)
def test_it_solves_problems_of_the_public_release(pid: str, tmp_path: Path) -> None:
    with Stages(SEED) as stages, stages.episode(pid) as world:
        done: dict[str, Any] = world.call(run_episode, Runbook, "runbook", results=tmp_path)
    assert done["results"]["success"], done["results"]

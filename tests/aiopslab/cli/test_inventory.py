"""Which problems there are; never what is wrong in them."""

from __future__ import annotations

import json

import pytest

from aiopslab.cli.inventory import list_agents, list_apps, list_faults, list_problems
from aiopslab.orchestrator.problems import NoSuchSelection
from tests.aiopslab.cli.command_line import ROOT

OWN = ROOT / "tests" / "aiopslab" / "orchestrator" / "validation" / "unfair_problems.py"


def test_a_table_of_ids_applications_and_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_problems(None, None, None, (), False) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["id", "app", "task"]
    assert ["scale_pod_zero_social_net-mitigation-1", "social-network", "mitigation"] in [
        row.split() for row in rows
    ]


def test_by_task_and_application_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_problems("mitigation", "hotel-reservation", None, (), True) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["task"] for row in rows} == {"mitigation"}
    assert {row["app"] for row in rows} == {"hotel-reservation"}
    assert all(set(row) == {"id", "app", "task"} for row in rows)


def test_problems_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_problems(None, None, None, (OWN,), False) == 0
    assert "lenient-localization-1" in capsys.readouterr().out


def test_agents_with_a_sentence_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_agents(False) == 0
    assert (
        "restart-all     Restarts every workload, deletes every pod, and submits. Also: restarter.\n"
        in capsys.readouterr().out
    )
    assert list_agents(True) == 0
    assert "noop" in json.loads(capsys.readouterr().out)


def test_applications_and_faults_with_a_sentence_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_apps(False) == 0
    assert "hotel-reservation  The hotel reservation application.\n" in capsys.readouterr().out
    assert list_faults(True) == 0
    summary = "An operator scales down a workload that is still needed."
    assert json.loads(capsys.readouterr().out)["scale_pod_zero"] == summary


@pytest.mark.parametrize(
    ("task", "app", "told"),
    [("mitigate", None, "Choose one of: detection"), (None, "shop", "Choose one of: hotel-reservation")],
)
def test_what_is_not_there_is_told(task: str | None, app: str | None, told: str) -> None:
    with pytest.raises(NoSuchSelection, match=told):
        list_problems(task, app, None, (), False)

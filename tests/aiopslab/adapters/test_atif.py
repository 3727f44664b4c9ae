"""A real session becomes a valid trajectory; a folder of records becomes a folder of trajectories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from atif import Trajectory

from aiopslab.adapters import make_trajectory
from aiopslab.cli.interchange import export_sessions
from aiopslab.env import IncidentEnv
from aiopslab.orchestrator import read_record

NOOP = "noop_detection_hotel_reservation-1"


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The record of a session with a right call, a wrong one, and an answer."""
    with IncidentEnv([NOOP], records=tmp_path_factory.mktemp("records")) as env:
        env.reset()
        env.step('I look first.\n\nexec_shell("kubectl get nodes", timeout=20)')
        env.step("I am not sure.")
        yield env.step('submit("No")')[-1]["record"]


def test_a_session_is_a_valid_trajectory(record: Path) -> None:
    trajectory = Trajectory.model_validate(make_trajectory(read_record(record)))
    assert trajectory.schema_version == "ATIF-v1.8"
    system, user, look, unclear, answer = trajectory.steps
    assert (system.source, user.source, look.source) == ("system", "user", "agent")
    assert "exec_shell(command: str" in system.message
    assert look.message.startswith("I look first.")
    assert look.tool_calls[0].function_name == "exec_shell"
    assert look.tool_calls[0].arguments == {"command": "kubectl get nodes", "timeout": 20}
    assert look.observation.results[0].source_call_id == look.tool_calls[0].tool_call_id
    assert "control-plane" in look.observation.results[0].content
    assert unclear.tool_calls is None
    assert unclear.observation.results[0].content
    assert list(answer.tool_calls[0].arguments.values()) == ["No"]
    assert trajectory.final_metrics.extra["success"] is True
    assert (trajectory.extra["problem_id"], trajectory.extra["ending"]) == (NOOP, "submitted")


def test_a_folder_of_records_is_exported(
    record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export_sessions(str(record.parent), tmp_path / "out", True) == 0
    (name,) = json.loads(capsys.readouterr().out)["files"]
    written = json.loads((tmp_path / "out" / name).read_text())
    assert Trajectory.model_validate(written).session_id == read_record(record)["session_id"]

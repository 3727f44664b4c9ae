"""Validation from the command line, of a user's own file among others."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aiopslab.orchestrator.supervision.family import find_descendants
from tests.aiopslab.cli.command_line import ROOT, aiopslab, call_aiopslab
from tests.aiopslab.orchestrator.test_subprocess_agent import ends

UNFAIR = ROOT / "tests" / "aiopslab" / "orchestrator" / "validation" / "unfair_problems.py"
FAIR = "noop_detection_hotel_reservation-1"


@pytest.mark.slow
def test_fair_and_unfair_are_told_apart() -> None:
    done = aiopslab("validate", FAIR, "harmless-detection-1", "--load", str(UNFAIR), "--json")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert [one["what"] for one in told[FAIR] if not one["well"]] == []
    assert [one["what"] for one in told["harmless-detection-1"] if not one["well"]] == [
        "the incident is visible"
    ]
    assert "1 of 2 are validated" in done.stderr


def test_a_wrong_call_costs_no_time(tmp_path: Path) -> None:
    done = call_aiopslab("validate", "noop_detection_hotel-1")
    assert done.returncode == 2
    assert FAIR in done.stderr
    empty = tmp_path / "empty.py"
    empty.write_text("")
    done = call_aiopslab("list", "--load", str(empty))
    assert done.returncode == 2
    assert "has no problems" in done.stderr


@pytest.mark.slow
def test_findings_are_kept_and_not_made_again(tmp_path: Path) -> None:
    log = tmp_path / "fair.jsonl"
    first = aiopslab("validate", FAIR, "--jobs", "2", "--log", str(log))
    assert "1 of 1 problems are fair." in first.stdout
    kept = log.read_text()
    assert json.loads(kept)["problem"] == FAIR
    again = aiopslab("validate", FAIR, "--log", str(log), "--json")
    assert list(json.loads(again.stdout)) == [FAIR]
    assert log.read_text() == kept and "checking symptoms" not in again.stderr


@pytest.mark.slow
def test_workers_end_when_the_command_is_killed() -> None:
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", "validate", FAIR, "--jobs", "2"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while len(started := find_descendants(process.pid)) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        process.kill()
    assert len(started) >= 3, "a resource tracker, a worker and its world"
    assert all(ends(descendant.pid) for descendant in started)

"""A problem as a task folder: its files, its reference solution replayed as in the container, and Harbor's own loader."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest

from aiopslab.adapters import harbor_session
from aiopslab.cli.interchange import export_task
from aiopslab.cli.problems import load_problems

PROBLEM = "misconfig_app_hotel_res-mitigation-1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tasks") / "task"
    assert export_task(load_problems().get_problem_instance(PROBLEM, 3), out, True) == 0
    return out


def test_the_files_of_a_task(folder: Path, tmp_path: Path) -> None:
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["metadata"]["problem"] == PROBLEM
    assert config["agent"]["user"] == "agent"
    instruction = (folder / "instruction.md").read_text()
    assert "incident 'exec_shell(" in instruction
    assert "misconfig" not in instruction
    dockerfile = (folder / "environment" / "Dockerfile").read_text()
    assert "cryptography" in dockerfile
    assert "gymnasium" not in dockerfile
    with tarfile.open(folder / "environment" / "package.tar.gz") as archive:
        names = archive.getnames()
        archive.extractall(tmp_path)
    assert not [name for name in names if "__pycache__" in name]
    for script in ("environment/incident", "tests/test.sh", "solution/solve.sh"):
        subprocess.run(["sh", "-n", folder / script], check=True)
    assert (tmp_path / "aiopslab/adapters/harbor_session.py").is_file()
    assert (tmp_path / "simcloud/telemetry/stack/manifests/prometheus.yaml").is_file()


@pytest.mark.slow
def test_the_reference_solution_is_rewarded_and_doing_nothing_is_not(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "incident.json").write_text((folder / "environment" / "incident.json").read_text())
    assert harbor_session.judge(state) == 0.0
    script = (folder / "solution" / "solve.sh").read_text()
    *repairs, submission = [words[1] for words in map(shlex.split, script.splitlines()[1:])]
    assert repairs
    for answer in repairs:
        harbor_session.act(state, answer)
    assert harbor_session.act(state, submission).endswith(harbor_session.OVER)
    assert harbor_session.act(state, repairs[0]) == harbor_session.OVER
    assert len((state / "answers.jsonl").read_text().splitlines()) == len(repairs) + 1
    assert harbor_session.judge(state) == 1.0


@pytest.mark.slow
def test_an_answer_that_needs_no_repair_is_the_solution(tmp_path: Path) -> None:
    task = load_problems().get_problem_instance("noop_detection_hotel_reservation-1")
    assert export_task(task, tmp_path / "task", True) == 0
    assert re.fullmatch(
        r"#!/bin/sh\nincident .*submit.*No.*\n", (tmp_path / "task/solution/solve.sh").read_text()
    )
    settings = json.loads((tmp_path / "task/environment/incident.json").read_text())
    assert settings == {"problem": "noop_detection_hotel_reservation-1", "seed": task.seed, "max_steps": 30}


def test_harbor_loads_the_task(folder: Path) -> None:
    task = pytest.importorskip(
        "harbor.models.task.task", reason="Harbor is not installed (Python 3.12 or newer)"
    )
    loaded = task.Task(folder)
    assert loaded.name.startswith("aiopslab/")
    assert loaded.instruction.startswith("You are")
    assert task.Task.is_valid_dir(folder)

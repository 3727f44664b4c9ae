"""What is asked quickly is answered quickly: by what is loaded for it, because times are for benchmarks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.aiopslab.cli.command_line import ROOT, aiopslab

LOADED = """
import json, sys
from aiopslab.cli import main
sys.argv = ["aiopslab", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code or 0, sorted(sys.modules)]), file=sys.stderr)
"""
CLOUD = (
    "aiopslab.cloud.environment",
    "simcloud.kubernetes.api.api",
    "simcloud.kubernetes.cluster",
    "simcloud.kubectl",
    "simcloud.userland",
    "simcloud.telemetry",
    "simcloud.datastores",
)
"""What only a cloud needs that is going to run."""


def loaded_by(*args: str) -> tuple[int, set[str]]:
    """The exit code of a call, and the modules that it has loaded."""
    command = [sys.executable, "-c", LOADED, json.dumps(args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=ROOT)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    return code, set(modules)


@pytest.mark.parametrize("args", [("--help",), ("run", "--help"), ("shell", "--help"), ("--version",)])
def test_help_and_version_load_nothing_of_the_cloud(args: tuple[str, ...]) -> None:
    code, modules = loaded_by(*args)
    rooms = {name.split(".")[1] for name in modules if name.startswith("aiopslab.")}
    assert code == 0
    assert rooms <= {"cli", "orchestrator", "utils"}
    assert {name for name in modules if name.startswith("simcloud")} <= {"simcloud", "simcloud.exports"}
    assert "rich.console" not in modules


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("list",), 0),
        (("list", "--app", "hotel-reservation", "--json"), 0),
        (("list", "--apps"), 0),
        (("list", "--faults"), 0),
        (("run", "container_kil-detection", "--agent", "noop"), 2),
        (("play", "container_kil-detection"), 2),
        (("validate", "container_kil-detection"), 2),
        (("export", "container_kil-detection", "--out", "nowhere"), 2),
    ],
)
def test_problems_are_listed_and_looked_up_without_a_cloud(args: tuple[str, ...], code: int) -> None:
    exited, modules = loaded_by(*args)
    assert exited == code
    assert modules.isdisjoint(CLOUD)


def test_an_orchestrator_knows_its_problems_without_a_cloud() -> None:
    script = (
        "import sys; from aiopslab import Orchestrator; ids = Orchestrator().probs.get_problem_ids('mitigation'); "
        "print(ids[0], *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, *modules = done.stdout.split()
    assert first.endswith("-mitigation-1")
    assert set(modules).isdisjoint(
        ("aiopslab.cloud.environment", "simcloud.kubernetes.cluster", "simcloud.kubectl")
    )


@pytest.mark.parametrize("args", ["--help", "--version", "list"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_has_gone_is_told_nothing(args: str, unbuffered: str) -> None:
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", args]
    readable, writable = os.pipe()
    os.close(readable)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        command, stdout=writable, stderr=subprocess.PIPE, text=True, timeout=300, check=False, env=env
    )
    os.close(writable)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(("args", "unbuffered"), [("--help", ""), ("list", ""), ("list", "1")])
def test_a_full_disk_is_a_sentence(args: str, unbuffered: str) -> None:
    command = [sys.executable, "-c", "from aiopslab.cli import main; main()", args]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False, env=env
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_without_a_home() -> None:
    done = aiopslab("list", "--task", "analysis", HOME="")
    assert done.returncode == 0
    assert "analysis" in done.stdout


def test_where_nothing_can_be_written_a_run_says_so_before_it_begins() -> None:
    folder = "/proc/results"
    done = aiopslab("run", "container_kill-detection", "--agent", "noop", "--results", folder)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{folder} cannot be written to")
    assert "--results" in done.stderr

"""What CONTRIBUTING.md shows works when it is pasted: in a copy of the sources, where every new thing is found and runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
BLOCKS = [(language, dedent(text)) for language, text in BLOCK.findall(PAGE)]
FILES = {text.partition("\n")[0].removeprefix("# "): text for language, text in BLOCKS if language != "sh"}
LINES = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]

PERFORM = """
from types import SimpleNamespace
from aiopslab.apps.hotelres import HotelReservation
from aiopslab.orchestrator.actions import ActionSet, TaskActions

actions = object.__new__(TaskActions)
actions.environment = SimpleNamespace(app=HotelReservation())
offered = ActionSet(actions, ["get_owner"])
print(offered.perform("get_owner", ["geo"]), offered.perform("get_owner", ["goe"]))
"""
RUN_CASE = """
from pathlib import Path
from tests.simcloud.kubernetes.controllers import test_cases

test_cases.CASES = Path("tests/simcloud/kubernetes/controllers/cases")
test_cases.test_case("token_cleaner/expires")
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources in which every step was followed."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "src", folder / "src")
    for line in LINES:
        program, *args = shlex.split(line)
        assert program == "aiopslab"
        aiopslab(folder, *args)
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def python(clone: Path, code: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": f"{clone / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def aiopslab(clone: Path, *args: str) -> str:
    return python(clone, "from aiopslab.cli import main; main()", *args)


def test_these_are_all() -> None:
    assert len(LINES) == 2
    assert len(FILES) == 7


def test_the_fault_and_the_application_are_found(clone: Path) -> None:
    assert "\nlost_label " in aiopslab(clone, "list", "--faults")
    assert "\ntea-shop " in aiopslab(clone, "list", "--apps")


def test_the_problems_are_found(clone: Path) -> None:
    assert "\nlost_label_hotel_res-mitigation-1 " in aiopslab(clone, "list")


def test_the_action_is_offered(clone: Path) -> None:
    assert "search-team There is no component 'goe'. Did you mean 'geo'" in python(clone, PERFORM)


def test_the_verb_and_the_controller_run(clone: Path) -> None:
    lines = (
        "expiration=$(date -u -d '+10 seconds' +%Y-%m-%dT%H:%M:%SZ)",
        "kubectl create secret generic early --type=bootstrap.kubernetes.io/token --from-literal=expiration=$expiration",
        "kubectl get secrets -o name; sleep 15; kubectl get secrets -o name | wc -l",
        "touch /usr/local/bin/kubectl-who; chmod +x /usr/local/bin/kubectl-who; kubectl plugin list",
    )
    assert aiopslab(clone, "shell", "--nodes", "1", "-c", "; ".join(lines)).splitlines() == [
        "secret/early created",
        "secret/early",
        "0",
        "The following compatible plugins are available:",
        "",
        "/usr/local/bin/kubectl-who",
    ]


def test_the_case_of_the_controller_passes(clone: Path) -> None:
    python(clone, RUN_CASE)

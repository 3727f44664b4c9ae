"""The same problem, seed and actions give the same record: in another process, in a copy, and after other episodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator.episode import Pace
from aiopslab.orchestrator.records import comparable
from aiopslab.orchestrator.stages import Stages, run_episode
from tests.aiopslab.orchestrator.agents_at_work import said

ROOT = Path(__file__).parents[3]
FIRST, OTHER = "misconfig_app_hotel_res-localization-1", "noop_detection_hotel_reservation-1"
NS = "test-hotel-reservation"
LINES = (
    'exec_shell("ls -la /root /tmp; date; hostname; echo was here >> /root/notes; cat /root/notes")',
    f'exec_shell("kubectl get pods,events -n {NS} -o wide")',
    f'get_logs("{NS}", "geo")',
    f'get_metrics("{NS}", 3)',
    f'get_traces("{NS}", 1)',
    f'exec_shell("kubectl delete pod -n {NS} -l io.kompose.service=rate --wait=false; kubectl create namespace mine")',
    'exec_shell("kubectl get namespaces; ls -R /root | head -50")',
    'submit(["geo"])',
)
ANSWERS = {FIRST: LINES, OTHER: ('exec_shell("ls -la /root /tmp; kubectl get namespaces")', 'submit("No")')}

SCRIPT = """
import asyncio, sys
from pathlib import Path
from aiopslab.orchestrator.orchestrator import Orchestrator
from tests.aiopslab.orchestrator.test_same_records import ANSWERS, said

orchestrator = Orchestrator(Path(sys.argv[1]), seed=11)
paths = []
for problem in sys.argv[2:]:
    orchestrator.init_problem(problem)
    orchestrator.register_agent(said(*ANSWERS[problem]), name="tester")
    paths.append(asyncio.run(orchestrator.start_problem())["record"])
print(*paths, sep="\\n")
"""


def records(folder: Path, *problems: str, **environ: str) -> list[dict[str, Any]]:
    """Of problems one after another in one orchestrator, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), *problems],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(Path(line).read_text()) for line in done.stdout.splitlines()[-len(problems) :]]


@pytest.fixture(scope="module")
def one_after_another(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return records(tmp_path_factory.mktemp("a"), FIRST, OTHER, FIRST, PYTHONHASHSEED="1", TZ="Asia/Kathmandu")


@pytest.mark.slow
def test_nothing_of_one_episode_is_seen_in_the_next(one_after_another: list[dict[str, Any]]) -> None:
    first, other, again = one_after_another
    assert first["steps"][0]["observation"].endswith("\nwas here")
    assert "was here\nwas here" not in again["steps"][0]["observation"]
    assert "mine" in first["steps"][6]["observation"]
    assert "notes" not in other["steps"][0]["observation"]
    assert "mine" not in other["steps"][0]["observation"]
    assert comparable(first) == comparable(again)
    assert first["session_id"] != again["session_id"]
    assert (first["ending"], first["results"]["success"]) == ("submitted", True)
    assert other["results"]["success"] is True


@pytest.mark.slow
def test_another_process_with_another_hash_seed_and_time_zone_gives_the_same_record(
    one_after_another: list[dict[str, Any]], tmp_path: Path
) -> None:
    (elsewhere,) = records(tmp_path, FIRST, PYTHONHASHSEED="4711", TZ="America/St_Johns", LANG="C")
    assert comparable(elsewhere) == comparable(one_after_another[0])
    assert elsewhere["session_id"] == one_after_another[0]["session_id"]


@pytest.mark.slow
def test_copies_give_the_same_record_and_share_what_they_can(one_after_another: list[dict[str, Any]]) -> None:
    told: list[str] = []
    with Stages(seed=11, tell=told.append, thinking_s=Pace.thinking_s) as stages:
        with stages.episode("misconfig_app_hotel_res-detection-1") as copy:
            detected = copy.call(run_episode, partial(said, 'submit("Yes")'))
        assert detected["results"]["success"] is True
        for _ in range(2):
            with stages.episode(FIRST) as copy:
                result = copy.call(run_episode, partial(said, *LINES), "tester")
            assert comparable(json.loads(json.dumps(result["session"]))) == comparable(one_after_another[0])
        with stages.episode(OTHER) as copy:
            assert copy.call(run_episode, partial(said, 'submit("No")'))["results"]["success"] is True
    assert [line.partition(":")[0] for line in told] == [
        "hotel-reservation",
        "misconfig_app_hotel_res-detection-1",
        OTHER,
    ]

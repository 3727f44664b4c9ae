"""The examples run as they say, and what they pose is no gift: nothing done is no repair."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiopslab.orchestrator.orchestrator import Orchestrator

ROOT = Path(__file__).parents[2]
LAST_LINES = {
    "04": "looker      revoke_auth_mongodb-detection-1              1 of 1    2.0         10.1      50",
    "07": "workloads unready, no DNS: scale DNS up (18%)",
}
OPTIONS = {"07": ("--episodes", "24")}
"""Fewer than a user wants, to show that it runs."""
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, tmp_path: Path) -> None:
    ours = os.pathsep.join((str(ROOT / "src"), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, example, *OPTIONS.get(example.stem[:2], ())],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": ours},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == LAST_LINES.get(example.stem[:2], "success: True")


async def nothing(state: str) -> str:
    return "submit()"


@pytest.mark.slow
def test_doing_nothing_does_not_solve_the_example() -> None:
    orchestrator = Orchestrator(results=None)
    orchestrator.probs.load(EXAMPLES[0])
    orchestrator.init_problem("closed_door-mitigation-2")
    orchestrator.register_agent(nothing)
    results = asyncio.run(orchestrator.start_problem(max_steps=2))["results"]
    assert not results["success"]
    assert any(finding.startswith("NOT the root cause is gone") for finding in results["findings"])

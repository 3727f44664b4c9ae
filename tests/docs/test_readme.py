"""What the README shows in Python runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^ *```python\n(.*?)^ *```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)


def ran(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_agent_of_one_s_own_gets_results_and_a_record(tmp_path: Path) -> None:
    told = ran(BLOCKS[0], tmp_path)
    assert "'Detection Accuracy': 'Correct'" in told
    assert len(list((tmp_path / "results").glob("*.json"))) == 1


def test_a_world_in_a_few_lines_shows_users_who_fail(tmp_path: Path) -> None:
    assert "'HTTP 500': " in ran(BLOCKS[1], tmp_path)


def test_these_are_all() -> None:
    assert len(BLOCKS) == 2

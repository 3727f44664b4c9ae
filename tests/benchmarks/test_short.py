"""Every benchmark still runs: its short form executes everything at the smallest sizes and judges no budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = sorted((ROOT / "benchmarks").glob("[a-z]*.py"))
NEEDS = {"kubectl": [pytest.mark.differential("kubectl")]}
"""Marks of the benchmarks that compare with a genuine tool."""
TIMEOUT_S = 300
RULE = "━━"
"""Part of the line above the rows of every table."""


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    "benchmark",
    [pytest.param(path, id=path.stem, marks=NEEDS.get(path.stem, ())) for path in BENCHMARKS],
)
def test_the_short_form_prints_its_tables_and_valid_json(benchmark: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(benchmark), "--short", "--json"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert RULE in done.stderr
    figures = json.loads(done.stdout)
    assert figures["ok"] is True
    assert len(figures) > 2, "there are no figures besides 'missed' and 'ok'"


def test_there_are_benchmarks() -> None:
    assert len(BENCHMARKS) > 10


def test_the_readme_names_every_benchmark() -> None:
    readme = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    missing = [path.name for path in BENCHMARKS if f"| `{path.name}` |" not in readme]
    assert not missing

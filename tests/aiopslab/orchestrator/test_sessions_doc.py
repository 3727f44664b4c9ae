"""The examples of docs/sessions.md do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from aiopslab.orchestrator.episode import Pace
from aiopslab.orchestrator.evaluation import Health
from aiopslab.orchestrator.records import build_record
from aiopslab.orchestrator.redaction import Redactor
from aiopslab.orchestrator.session import Session, Step

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "sessions.md").read_text()


@pytest.mark.slow
def test_the_page_s_examples_run(tmp_path: Path) -> None:
    session, reading, comparison, copies, resets = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    agent, _, one_session = session.partition("\norch = ")
    (tmp_path / "copies.py").write_text(agent + copies)
    (tmp_path / "session.py").write_text(f"{agent}\norch = {one_session}{comparison}")
    (tmp_path / "reading.py").write_text(reading)
    (tmp_path / "resets.py").write_text(resets)
    told = [ran(tmp_path, name) for name in ("session.py", "copies.py", "reading.py", "resets.py")]
    (record,) = (tmp_path / "results").iterdir()
    assert told[0].splitlines()[-1] == f"submitted True results/{record.name}"
    assert told[2] == "misconfig_app_hotel_res-detection-1,hasty,7,submitted,True,1,5.0,12,4\n"
    assert told[3].splitlines() == [
        "rollout restart deployment/geo: severity 0.8",
        "rollout undo deployment/geo: severity 0.0",
    ]
    assert told[1].splitlines() == [
        "misconfig_app_hotel_res-detection-1 submitted True",
        "misconfig_app_hotel_res-localization-1 submitted False",
    ]


def ran(folder: Path, name: str) -> str:
    done = subprocess.run(
        [sys.executable, name],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_field_of_a_record_is_explained() -> None:
    """By name, in the section about records; those of results have a page of their own."""
    explained = set(re.findall(r"`(\w+)`", PAGE.partition("## Records")[2]))
    session = Session("a problem", "an agent", 0, 1, 0.0, 0.0, 1)
    record = build_record(session, {}, None, {}, {"max_steps": 1, **asdict(Pace())}, Redactor(()))
    steps = {field.name for field in fields(Step)} - {"wall_s"}  # it stands in the record's own wall
    healths = {field.name for field in fields(Health)}
    inside = {name for part in ("settings", "simulated", "wall") for name in record[part]}
    assert not (set(record) | steps | healths | inside) - explained

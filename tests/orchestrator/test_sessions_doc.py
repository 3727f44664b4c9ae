"""The examples of docs/sessions.md do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sessions.md").read_text()


def test_the_page_s_examples_run(tmp_path: Path) -> None:
    session, comparison, copies = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    agent, _, one_session = session.partition("\norch = ")
    (tmp_path / "copies.py").write_text(agent + copies)
    (tmp_path / "session.py").write_text(f"{agent}\norch = {one_session}{comparison}")
    told = [ran(tmp_path, name) for name in ("session.py", "copies.py")]
    (record,) = (tmp_path / "results").iterdir()
    assert told[0] == f"submitted True results/{record.name}\n"
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

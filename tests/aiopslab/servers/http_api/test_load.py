"""Many clients at once, some of which kill, idle and attack: every session ends in a record. The long form is a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.load_server import run_load


@pytest.mark.slow
def test_every_session_under_load_ends_in_a_record(tmp_path: Path) -> None:
    figures, faults = run_load(10, 20, tmp_path)
    assert faults == []
    assert figures["records"] >= figures["sessions begun"] > 0

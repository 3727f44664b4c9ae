"""Records: what is kept, how two are compared, and that no half of one is ever found."""

from __future__ import annotations

import errno
import json
import math
import subprocess
import sys
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from aiopslab.orchestrator.evaluation.severity import Health
from aiopslab.orchestrator.journal import Journal, close_journal, mark_as_cut_off, read_record
from aiopslab.orchestrator.records import RecordNotWritten, build_record, comparable, to_json, write_record
from aiopslab.orchestrator.redaction import Redactor
from aiopslab.orchestrator.session import Session, Step

WELL = Health(0.0, 0.0, 0.0, ())


def session(wall_began: float = 1700000000.25, wall_s: float = 0.5, episode: int = 1) -> Session:
    step = Step(1, 'submit("Yes")', "submit", ("Yes",), {}, "taken", True, 5.0, 0.0, WELL, {}, 10, 2, wall_s)
    return Session(
        "p-detection-1", "me", 7, episode, 200.0, 205.0, 30, [step], "Yes", "submitted",
        wall_began=wall_began, wall_ended=wall_began + 3.0, wall_agent_s=wall_s,
    )  # fmt: skip


def recorded(one: Session, results: dict[str, Any] | None = None) -> dict[str, Any]:
    prompt = {"description": "d", "instructions": "i", "actions": {"submit": "s"}}
    return build_record(
        one, prompt, "Yes", results or {"success": True}, {"max_steps": 30}, Redactor(["i" * 12])
    )


def test_a_record_has_the_fields_that_others_read_and_ours() -> None:
    record = recorded(session())
    assert list(record)[:7] == [
        "agent", "session_id", "problem_id", "start_time", "end_time", "trace", "results",
    ]  # fmt: skip
    assert record["trace"] == [
        {"role": "assistant", "content": 'submit("Yes")'},
        {"role": "env", "content": "taken"},
    ]
    assert (record["start_time"], record["end_time"]) == (1700000000.25, 1700000003.25)
    assert (record["seed"], record["solution"], record["expected"]) == (7, "Yes", "Yes")
    assert record["system_prompt"]["actions"] == {"submit": "s"}
    assert record["simulated"] == {"began_s": 200.0, "ended_s": 205.0, "duration_s": 5.0}
    assert record["steps"][0]["health"]["severity"] == 0.0
    assert record["version"]


def test_only_the_host_s_clock_and_which_session_it_was_are_left_out_of_a_comparison() -> None:
    one = recorded(session(), {"success": True, "wall": {"TTD": 3.0}})
    other = recorded(session(1800000000.0, 9.0, episode=2), {"success": True, "wall": {"TTD": 4.0}})
    assert one != other
    assert one["session_id"] != other["session_id"]
    assert comparable(one) == comparable(other)
    changed = session()
    changed.solution = "No"
    assert comparable(recorded(changed)) != comparable(one)


def test_a_session_s_id_is_the_same_in_every_run() -> None:
    assert session().session_id == "f981c580-54fe-5fb5-b353-60addb16d9f8"


def test_a_record_is_found_whole_by_its_name(tmp_path: Path) -> None:
    record = recorded(session())
    path = write_record(record, tmp_path / "deep" / "er")
    assert path.name == f"{record['session_id']}_1700000000.25.json"
    assert json.loads(path.read_text()) == record
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_record_never_takes_the_place_of_another(tmp_path: Path) -> None:
    record = recorded(session())
    first, second = write_record(record, tmp_path), write_record(record | {"why": "again"}, tmp_path)
    assert first != second
    assert json.loads(first.read_text())["why"] == ""
    assert json.loads(second.read_text())["why"] == "again"


def test_where_there_are_no_links_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    record = recorded(session())
    paths = [write_record(record, tmp_path) for _ in range(2)]
    assert sorted(tmp_path.iterdir()) == sorted(paths)


FULL = """
import resource, sys
from pathlib import Path
from aiopslab.orchestrator.records import RecordNotWritten, write_record
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write_record({"session_id": "s", "start_time": 1.5, "trace": "x" * 100_000}, Path(sys.argv[1]))
except RecordNotWritten as error:
    print(error)
"""


def test_a_disk_that_is_full_leaves_no_half_of_a_record(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert f"The record could not be written to {tmp_path}: File too large. Free some space" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordNotWritten, match="Not a directory"):
        write_record(recorded(session()), tmp_path / "file" / "results")


class Colour(Enum):
    RED = 1


def test_whatever_an_author_s_results_hold_becomes_json() -> None:
    told = to_json({1: (1, 2), "set": {"b", "a"}, "nan": math.nan, "e": Colour.RED, "o": object(), "h": WELL})
    assert told == {
        "1": [1, 2],
        "set": ["a", "b"],
        "nan": "nan",
        "e": "RED",
        "o": "<object>",
        "h": {"severity": 0.0, "failed": 0.0, "slow": 0.0, "unhealthy": []},
    }


def test_half_a_character_can_be_kept(tmp_path: Path) -> None:
    one = session()
    one.why = "\ud800"
    path = write_record(recorded(one), tmp_path)
    assert json.loads(path.read_text())["why"] == "\ud800"


def test_a_journal_becomes_a_record_once(tmp_path: Path) -> None:
    begun = session()
    draft = recorded(mark_as_cut_off(replace(begun, steps=[])))
    journal = Journal(tmp_path, Redactor([]))
    journal.write_step(begun.steps[0])
    assert read_record(journal.path, draft)["problem_id"] == "p-detection-1"
    path = close_journal(journal.path, draft, "cut off", "Killed.")
    record = read_record(path)
    assert list(tmp_path.iterdir()) == [path]
    assert (record["ending"], record["why"], len(record["steps"])) == ("cut off", "Killed.", 1)
    assert record["simulated"] == {"began_s": 200.0, "ended_s": 205.0, "duration_s": 5.0}
    assert close_journal(journal.path, draft, "cut off", "Again.") == path
    assert read_record(path) == record

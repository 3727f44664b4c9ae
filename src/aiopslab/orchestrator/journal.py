"""Journals: the steps of a session, written as they happen, so that they survive a harness that is killed.

A journal is a file ``unfinished-….jsonl`` beside the records, with one step per line. When the session ends, its record is written
and the journal removed. One that nobody writes to any more is the rest of a session that was cut off.

A journal that an agent can read must not name the problem, so its name is random, and the line with everything else about the
session, the draft of its record, comes last: by the agent's supervisor if the harness was killed, or by the harness once the agent
has ended. It comes first where nobody outlives the harness.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Final

from aiopslab.orchestrator.records import Record, build_step, to_json, write_record
from aiopslab.orchestrator.redaction import Redactor
from aiopslab.orchestrator.session import DIGITS, WALL, Ending, Session, Step
from aiopslab.utils import AIOpsLabError

PATTERN: Final = "unfinished-*.jsonl"
CUT_OFF: Final = (
    "The harness was killed before the session ended. Its last step may be missing, and nothing was judged."
)
IN_PROGRESS: Final = "The session is still in progress."


class NotARecord(AIOpsLabError):
    """The file is no record of a session."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is not the record of a session: {why}.")


class Journal:
    """The journal of a session in progress. A disk that cannot be written to stops the journal, not the session."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self.path = folder / PATTERN.replace("*", secrets.token_hex(8))
        self._redactor = redactor
        self._file: IO[bytes] | None = None
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("xb", buffering=0)
            fcntl.flock(self._file, fcntl.LOCK_EX)  # held as long as this process lives

    def write_step(self, step: Step) -> None:
        """Append a step."""
        self._write({"step": self._redactor.redact_value(to_json(build_step(step)))})

    def write_draft(self, draft: Record) -> None:
        """Append what is known of the session besides its steps."""
        self._write({"draft": draft})

    def _write(self, line: Mapping[str, Any]) -> None:
        with suppress(OSError):
            if self._file is not None:
                self._file.write(json.dumps(line).encode() + b"\n")

    def remove(self) -> None:
        """Remove it, because the record is written."""
        if self._file is not None:
            self.path.unlink(missing_ok=True)
            self._file.close()
            self._file = None


def format_draft(draft: Record) -> str:
    """Return the line of a journal that holds a draft."""
    return json.dumps({"draft": draft})


def mark_as_cut_off(session: Session) -> Session:
    """Return a copy of a session that has just begun, as its draft shows it."""
    return replace(session, ending="cut off", why=CUT_OFF, wall_ended=session.wall_began)


def read_record(path: Path, draft: Record | None = None) -> Record:
    """Return the record in a file; a journal as the record of a session that was cut off, or is still in progress.

    ``draft`` is that of a journal which does not hold it. Raises ``NotARecord``.
    """
    try:
        data = path.read_bytes()
        record = _read_journal(path, data, draft or {}) if path.match(PATTERN) else json.loads(data)
    except OSError as error:
        raise NotARecord(path, error.strerror or str(error)) from None
    except ValueError:
        raise NotARecord(path, "it is not JSON") from None
    if not isinstance(record, dict) or not {"ending", "steps", "problem_id"} <= record.keys():
        raise NotARecord(path, "fields are missing")
    return record


def close_journal(path: Path, draft: Record, ending: Ending, why: str) -> Path:
    """Write the record of a session whose process was killed, from its draft and its journal, and remove the journal.

    Returns the record; the one that the process itself wrote if it was killed just after that. Raises ``RecordNotWritten``.
    """
    written = path.parent / f"{draft['session_id']}_{draft['start_time']}.json"
    if written.exists():
        path.unlink(missing_ok=True)
        return written
    steps = list(_iter_steps(path.read_bytes())) if path.exists() else []
    now = time.time()
    wall = {**draft[WALL], "session_s": now - draft["start_time"]}
    ends = {"ending": ending, "why": why, "end_time": now, WALL: wall}
    written = write_record(_add_steps(draft, steps) | ends, path.parent)
    path.unlink(missing_ok=True)
    return written


def list_records(folder: Path) -> list[Path]:
    """Return the files of a folder that hold records, those of sessions that were cut off included, by name."""
    return sorted([*folder.glob("*.json"), *folder.glob(PATTERN)])


def _read_journal(path: Path, data: bytes, draft: Record) -> Record:
    record: Record = {
        "problem_id": None,
        "agent": None,
        "session_id": None,
        "seed": None,
        "results": {},
    } | draft
    for line in _iter_lines(data):
        record |= line.get("draft", {})
    is_going_on = _is_locked(path)
    return _add_steps(record, list(_iter_steps(data))) | {
        "ending": "in progress" if is_going_on else "cut off",
        "why": IN_PROGRESS if is_going_on else CUT_OFF,
    }


def _iter_steps(data: bytes) -> Iterator[dict[str, Any]]:
    return (line["step"] for line in _iter_lines(data) if "step" in line)


def _add_steps(draft: Record, steps: list[dict[str, Any]]) -> Record:
    """Return a draft with the steps, and what follows from them."""
    speakers = (("assistant", "response"), ("env", "observation"))
    trace = [{"role": role, "content": step[field]} for step in steps for role, field in speakers]
    record = {**draft, "steps": steps, "trace": trace}
    if steps and "simulated" in record:
        duration_s = round(steps[-1]["at_s"] + steps[-1]["took_s"], DIGITS)
        began_s = record["simulated"]["began_s"]
        record["simulated"] = {"began_s": began_s, "ended_s": began_s + duration_s, "duration_s": duration_s}
    return record


def _iter_lines(data: bytes) -> Iterator[dict[str, Any]]:
    """Yield the complete lines: the harness may have been killed in the middle of one."""
    for line in data.split(b"\n"):
        with suppress(ValueError):
            if isinstance(parsed := json.loads(line), dict):
                yield parsed


def _is_locked(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False

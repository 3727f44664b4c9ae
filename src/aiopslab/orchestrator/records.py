"""Records of sessions: what they hold, how two are compared, and how they are written atomically.

A record is JSON. Everything that depends on the host's clock is in ``start_time``, ``end_time`` and ``wall``; the rest is
the same, to the byte, for the same actions on the same problem with the same seed. A record is written to a temporary
file and then moved into place, so that no reader finds a partial one; it never overwrites another record.

Until then the session's steps are in a journal (``journal.py``), which remains if the harness is killed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version as installed_version
from pathlib import Path
from typing import Any, Final

from aiopslab.orchestrator.redaction import Redactor
from aiopslab.orchestrator.session import WALL, Session, Step
from aiopslab.utils import AIOpsLabError

Record = dict[str, Any]

PACKAGE: Final = "aiopslab-in-a-box"
MAX_SAME_NAME: Final = 1000
"""Maximum number of records with the same session id and start time in one folder."""
_NOT_COMPARED: Final = ("session_id", "start_time", "end_time", WALL)
"""Fields that identify a session or depend on the host's clock."""


class RecordNotWritten(AIOpsLabError):
    """A record could not be written; the message says why and what to do."""

    def __init__(self, folder: Path, error: OSError) -> None:
        why = error.strerror or type(error).__name__
        super().__init__(
            f"The record could not be written to {folder}: {why}. Free some space or choose another folder (results=…, at the "
            "command line --results); the result of this session holds the same data."
        )


def build_record(
    session: Session,
    prompt: Mapping[str, Any],
    expected: Any,
    results: Mapping[str, Any],
    settings: Mapping[str, Any],
    redactor: Redactor,
) -> Record:
    """Return the record of a session, with secrets redacted."""
    content = {
        "agent": session.agent_name,
        "session_id": session.session_id,
        "problem_id": session.problem_id,
        "start_time": session.wall_began,
        "end_time": session.wall_ended,
        "trace": session.trace,
        "results": {name: value for name, value in results.items() if name != WALL},
        "seed": session.seed,
        "version": get_version(),
        "settings": settings,
        "agent_settings": session.agent_settings,
        "system_prompt": prompt,
        "solution": session.solution,
        "expected": expected,
        "ending": session.ending,
        "why": session.why,
        "simulated": {
            "began_s": session.began_s,
            "ended_s": session.ended_s,
            "duration_s": session.duration_s,
        },
        "health": session.health,
        "steps": [build_step(step) for step in session.steps],
        **({} if session.transactions is None else {"transactions": session.transactions}),
        WALL: {
            "session_s": session.wall_ended - session.wall_began,
            "agent_s": session.wall_agent_s,
            "steps_s": [step.wall_s for step in session.steps],
            "results": results.get(WALL, {}),
        },
    }
    record: Record = redactor.redact_value(to_json(content))
    return record


def build_step(step: Step) -> dict[str, Any]:
    """Return the fields of a step that do not depend on the host's clock."""
    return {name: value for name, value in vars(step).items() if name != "wall_s"}


def comparable(record: Mapping[str, Any]) -> bytes:
    """Return a record as bytes, without session id and wall times: equal for two sessions with the same course."""
    kept = {name: value for name, value in record.items() if name not in _NOT_COMPARED}
    return json.dumps(kept, sort_keys=True).encode()


def write_record(record: Record, folder: Path) -> Path:
    """Write a record to a folder and return its path; raises ``RecordNotWritten`` and leaves no partial file then."""
    data = json.dumps(record, indent=1).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _write_file(data, folder, f"{record['session_id']}_{record['start_time']}")
    except OSError as error:
        raise RecordNotWritten(folder, error) from error


def _write_file(data: bytes, folder: Path, name: str) -> Path:
    temporary = folder / f".{name}.{os.getpid()}.part"
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        for path in _iter_paths(folder, name):
            with suppress(FileExistsError):
                return _move(temporary, path)
        raise FileExistsError(f"{folder} has {MAX_SAME_NAME} records of one name")
    finally:
        temporary.unlink(missing_ok=True)


def _move(temporary: Path, path: Path) -> Path:
    try:
        path.hardlink_to(temporary)  # unlike a move, this never overwrites another file
    except FileExistsError:
        raise
    except OSError:  # a filesystem without links
        if path.exists():
            raise FileExistsError(path) from None
        temporary.rename(path)
    return path


def _iter_paths(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.json"
    for number in range(2, MAX_SAME_NAME):
        yield folder / f"{name}-{number}.json"


def to_json(value: Any) -> Any:
    """Convert a value to JSON types. Other objects become their type's name, because a repr may hold an address."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return to_json({field.name: getattr(value, field.name) for field in fields(value)})
    if isinstance(value, Mapping):
        return {str(name): to_json(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((to_json(item) for item in value), key=str)
    return f"<{type(value).__name__}>"


@cache
def get_version() -> str:
    """Return this package's version; ``source`` when it is used without being installed."""
    try:
        return installed_version(PACKAGE)
    except PackageNotFoundError:
        return "source"

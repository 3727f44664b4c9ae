"""Records of sessions: what is kept of them, how two are compared, and how one gets to the disk in one piece.

A record is JSON. All that the host's clock said stands in ``start_time``, ``end_time`` and ``wall``; the rest is the same, to
the byte, whenever the same actions are taken at the same problem with the same seed. A record is written beside its
place and then moved there, so that nobody ever finds half of one; it never takes the place of another.
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
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any, Final

from aiopslab.orchestrator.redaction import Redactor
from aiopslab.orchestrator.session import WALL, Session, Step
from aiopslab.utils.status import AIOpsLabError

Record = dict[str, Any]

PACKAGE: Final = "aiopslab-in-a-box"
SAME_NAME: Final = 1000
"""How many records may want one name before something else must be wrong."""
_TOLD_APART: Final = ("session_id", "start_time", "end_time", WALL)
"""Which session it was and when: nothing of what happened in it."""


class RecordNotWritten(AIOpsLabError):
    """The disk did not take a record; the sentence says why and what to do."""

    def __init__(self, folder: Path, error: OSError) -> None:
        why = error.strerror or type(error).__name__
        super().__init__(
            f"The record could not be written to {folder}: {why}. Make room or give another folder (results=…, at the "
            "command line --results); this session's result holds all that it would say."
        )


def record_of(
    session: Session,
    prompt: Mapping[str, Any],
    expected: Any,
    results: Mapping[str, Any],
    settings: Mapping[str, Any],
    redactor: Redactor,
) -> Record:
    """All that is kept of a session, without anything secret."""
    told = {
        "agent": session.agent_name,
        "session_id": session.session_id,
        "problem_id": session.problem_id,
        "start_time": session.wall_began,
        "end_time": session.wall_ended,
        "trace": session.trace,
        "results": {name: value for name, value in results.items() if name != WALL},
        "seed": session.seed,
        "version": version(),
        "settings": settings,
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
        "steps": [_step(step) for step in session.steps],
        WALL: {
            "session_s": session.wall_ended - session.wall_began,
            "agent_s": session.wall_agent_s,
            "steps_s": [step.wall_s for step in session.steps],
            "results": results.get(WALL, {}),
        },
    }
    record: Record = redactor.value(plain(told))
    return record


def _step(step: Step) -> dict[str, Any]:
    return {name: value for name, value in vars(step).items() if name != "wall_s"}


def comparable(record: Mapping[str, Any]) -> bytes:
    """A record as bytes, without which session it was and what the host's clock said: equal when the same happened."""
    kept = {name: value for name, value in record.items() if name not in _TOLD_APART}
    return json.dumps(kept, sort_keys=True).encode()


def write_record(record: Record, folder: Path) -> Path:
    """Put a record into a folder and return its path; raises ``RecordNotWritten``, and leaves nothing behind then."""
    data = json.dumps(record, indent=1).encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _placed(data, folder, f"{record['session_id']}_{record['start_time']}")
    except OSError as error:
        raise RecordNotWritten(folder, error) from error


def _placed(data: bytes, folder: Path, name: str) -> Path:
    beside = folder / f".{name}.{os.getpid()}.part"
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        for path in _names(folder, name):
            with suppress(FileExistsError):
                return _moved(beside, path)
        raise FileExistsError(f"{folder} has {SAME_NAME} records of one name")
    finally:
        beside.unlink(missing_ok=True)


def _moved(beside: Path, path: Path) -> Path:
    try:
        path.hardlink_to(beside)  # unlike a move, this never takes the place of another
    except FileExistsError:
        raise
    except OSError:  # a filesystem without links
        if path.exists():
            raise FileExistsError(path) from None
        beside.rename(path)
    return path


def _names(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.json"
    for number in range(2, SAME_NAME):
        yield folder / f"{name}-{number}.json"


def plain(value: Any) -> Any:
    """A value in what JSON has; what has no form there is named by its type, for its own words may hold an address."""
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return plain({one.name: getattr(value, one.name) for one in fields(value)})
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(one) for one in value), key=str)
    return f"<{type(value).__name__}>"


@cache
def version() -> str:
    """This package's version; ``source`` when it is used without being installed."""
    try:
        return installed_version(PACKAGE)
    except PackageNotFoundError:
        return "source"

"""The store of a benchmark: one SQLite file with the run's settings and one row per finished episode.

Only the runner writes, one transaction per episode, as soon as the episode has finished: whatever process is killed whenever, the
store holds complete episodes, each of them once. The session records are files in the folder ``sessions`` beside it.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from aiopslab.benchmark.episodes import Action, Episode, EpisodeKey, Facts
from aiopslab.utils import AIOpsLabError

FILE_NAME: Final = "benchmark.sqlite"
SESSIONS: Final = "sessions"
"""Folder of the session records, beside the file."""
VERSION: Final = 1
"""Version of the tables. Stores of another version are refused."""
BUSY_S: Final = 30.0

_NOT_COLUMNS: Final = ("facts", "actions", "results")
_SCALARS: Final = [field.name for field in fields(Episode) if field.name not in _NOT_COLUMNS]
_FACTS: Final = [field.name for field in fields(Facts)]
_COLUMNS: Final = ["run", *_SCALARS, *_FACTS, "results", "actions"]
_TABLES: Final = f"""
CREATE TABLE runs (run TEXT PRIMARY KEY, version INTEGER NOT NULL, settings TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE episodes ({", ".join(_COLUMNS)}, PRIMARY KEY (run, agent, problem, seed, repeat));
"""


class StoreError(AIOpsLabError):
    """A store is missing, is in use, exists already or cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Run:
    """What produced the episodes of a store."""

    name: str
    settings: Mapping[str, Any]
    """What every episode has in common: limits, times, the version of this package."""
    plan: Mapping[str, Any]
    """Agents, problems, seeds and repeats."""


class Store:
    """An open store. Use it as a context manager."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, run: Run) -> None:
        self.folder = folder
        self.run = run
        self._connection = connection

    @classmethod
    def create(cls, folder: Path, run: Run) -> Store:
        """Create the store of a new run; raises ``StoreError`` if the folder has one already."""
        path = folder / FILE_NAME
        if path.exists():
            raise StoreError(
                f"{folder} holds a benchmark already. Continue it with --resume, or choose another --out."
            )
        sessions = folder / SESSIONS
        if sessions.is_dir() and any(sessions.iterdir()):  # they would be taken for strays
            raise StoreError(f"{sessions} holds files of something else. Choose another --out.")
        try:
            sessions.mkdir(parents=True, exist_ok=True)
            # Another name until it is complete: a store that exists has its run.
            draft = folder / f".{FILE_NAME}.{os.getpid()}"
            draft.unlink(missing_ok=True)
            connection = sqlite3.connect(draft)
            connection.executescript(_TABLES)
            row = (run.name, VERSION, json.dumps(run.settings), json.dumps(run.plan))
            with connection:
                connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", row)
            connection.close()
            draft.rename(path)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{folder} cannot be written to ({error}). Choose another folder.") from None
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Open an existing store, given its folder or its file; raises ``StoreError``."""
        path = folder / FILE_NAME if folder.is_dir() else folder
        if not path.is_file():
            raise StoreError(
                f"{folder} holds no benchmark. Run one first: aiopslab bench --agent runbook --out {folder}"
            )
        try:
            connection = sqlite3.connect(path, timeout=BUSY_S)
            row = connection.execute("SELECT run, version, settings, plan FROM runs").fetchone()
        except sqlite3.Error as error:
            raise StoreError(f"{path} is no store of a benchmark ({error}). Choose another folder.") from None
        if row is None:
            raise StoreError(f"{path} has no run. Remove the folder, and run the benchmark again.")
        name, version, settings, plan = row
        if version != VERSION:
            raise StoreError(
                f"{path} was written by another version of this program. Run the benchmark again in another folder."
            )
        return cls(path.parent, connection, Run(name, json.loads(settings), json.loads(plan)))

    def add(self, episode: Episode) -> bool:
        """Store a finished episode; return False if it is stored already. Raises ``StoreError``."""
        row = [self.run.name, *_encode(episode)]
        marks = ", ".join("?" * len(_COLUMNS))
        try:
            with self._connection:
                done = self._connection.execute(f"INSERT OR IGNORE INTO episodes VALUES ({marks})", row)
        except sqlite3.OperationalError as error:  # a full disk
            raise StoreError(
                f"An episode could not be stored in {self.folder} ({error}). Free some space and continue with --resume."
            ) from None
        return done.rowcount == 1

    def remove(self, key: EpisodeKey) -> None:
        """Remove an episode that is to run again."""
        with self._connection:
            self._connection.execute(
                "DELETE FROM episodes WHERE (run, agent, problem, seed, repeat) = (?, ?, ?, ?, ?)",
                (self.run.name, *key),
            )

    def list_episodes(self) -> list[Episode]:
        """Return all episodes, by agent, problem, seed and repeat."""
        columns = ", ".join(_COLUMNS)
        rows = self._connection.execute(
            f"SELECT {columns} FROM episodes WHERE run = ? ORDER BY agent, problem, seed, repeat",
            (self.run.name,),
        )
        return [_decode(dict(zip(_COLUMNS, row, strict=True))) for row in rows]

    def change_plan(self, plan: Mapping[str, Any]) -> None:
        """Replace the plan, for a run that is extended."""
        with self._connection:
            self._connection.execute(
                "UPDATE runs SET plan = ? WHERE run = ?", (json.dumps(plan), self.run.name)
            )
        self.run = Run(self.run.name, self.run.settings, plan)

    def remove_strays(self) -> None:
        """Remove files of sessions that were cut off, or that were recorded but not stored. Only while nobody writes."""
        known = {self.folder / episode.record for episode in self.list_episodes()}
        sessions = self.folder / SESSIONS
        sessions.mkdir(exist_ok=True)
        for pattern in ("*.json", "unfinished-*.jsonl", ".*.part"):
            for file in sorted(sessions.glob(pattern)):
                if file not in known:
                    file.unlink(missing_ok=True)
        for draft in self.folder.glob(f".{FILE_NAME}.*"):
            draft.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Keep other runners from a folder; raises ``StoreError`` if one is at work there. Ends with this process."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise StoreError(f"{folder} cannot be used ({error.strerror}). Choose another --out.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreError(
            f"Another benchmark is running in {folder}. Wait for its end, or choose another --out."
        ) from None
    finally:
        os.close(descriptor)


def _encode(episode: Episode) -> list[Any]:
    actions = [[action.name, action.is_valid, list(action.programs)] for action in episode.actions]
    return [
        *(getattr(episode, name) for name in _SCALARS),
        *asdict(episode.facts).values(),
        json.dumps(episode.results),
        json.dumps(actions),
    ]


def _decode(row: dict[str, Any]) -> Episode:
    facts = Facts(**{name: row[name] for name in _FACTS})
    actions = [
        Action(name, is_valid, tuple(programs)) for name, is_valid, programs in json.loads(row["actions"])
    ]
    values = {name: row[name] for name in _SCALARS}
    values["success"] = None if row["success"] is None else bool(row["success"])
    return Episode(**values, facts=facts, results=json.loads(row["results"]), actions=actions)

"""The store of a benchmark: the run's settings and one row per finished episode, in a SQLite file or in a PostgreSQL database.

Only the runner writes, one transaction per episode, as soon as the episode has finished: whatever process is killed whenever, the
store holds complete episodes, each of them once. A benchmark has a folder in any case: the session records are files in its folder
``sessions``; beside it is the SQLite file, or a small file that names the database.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from aiopslab.benchmark.databases import (
    Database,
    DatabaseFailed,
    PostgresDatabase,
    SqliteDatabase,
    remove_password,
)
from aiopslab.benchmark.episodes import Action, Episode, EpisodeKey, Facts
from aiopslab.utils import AIOpsLabError

FILE_NAME: Final = "benchmark.sqlite"
LINK_NAME: Final = "benchmark.json"
"""File with the URL of the database, without a password, and the name of the run in it."""
SESSIONS: Final = "sessions"
"""Folder of the session records, beside the file."""
VERSION: Final = 1
"""Version of the tables. Stores of another version are refused."""

_TYPES: Final = {"str": "TEXT", "int": "BIGINT", "float": "DOUBLE PRECISION", "bool": "BOOLEAN"}
_NOT_COLUMNS: Final = ("facts", "actions", "results")
_SCALARS: Final = {
    field.name: _TYPES[str(field.type).removesuffix(" | None")]
    for field in fields(Episode)
    if field.name not in _NOT_COLUMNS
}
_FACTS: Final = {field.name: "TEXT" for field in fields(Facts)}
_COLUMNS: Final = {"run": "TEXT", **_SCALARS, **_FACTS, "results": "TEXT", "actions": "TEXT"}
_TABLES: Final = (
    "CREATE TABLE runs (run TEXT PRIMARY KEY, version INTEGER NOT NULL, settings TEXT NOT NULL, plan TEXT NOT NULL, "
    "folder TEXT NOT NULL)",
    f"CREATE TABLE episodes ({', '.join(f'{name} {kind}' for name, kind in _COLUMNS.items())}, "
    "PRIMARY KEY (run, agent, problem, seed, repeat))",
)


class StoreError(AIOpsLabError):
    """A store is missing, is in use, exists already or cannot be used; the message says what to do."""


class StoreFailed(StoreError):
    """A store that was open can no longer be read or written: the disk is full, the connection is lost."""


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

    def __init__(self, folder: Path, database: Database, run: Run) -> None:
        self.folder = folder
        self.run = run
        self._database = database

    @classmethod
    def create(cls, folder: Path, run: Run, url: str | None = None) -> Store:
        """Create the store of a new run, in a file or at the URL; raises ``StoreError`` if the folder has one already."""
        if any((folder / name).exists() for name in (FILE_NAME, LINK_NAME)):
            raise StoreError(
                f"{folder} holds a benchmark already. Continue it with --resume, or choose another --out."
            )
        sessions = folder / SESSIONS
        if sessions.is_dir() and any(sessions.iterdir()):  # they would be taken for strays
            raise StoreError(f"{sessions} holds files of something else. Choose another --out.")
        # Another name until it is complete: a store that exists has its run.
        path = folder / (FILE_NAME if url is None else LINK_NAME)
        draft = folder / f".{path.name}.{os.getpid()}"
        try:
            sessions.mkdir(parents=True, exist_ok=True)
            draft.unlink(missing_ok=True)
            with closing(_connect(url or draft)) as database:
                database.create_tables(_TABLES)
                place = "" if url is None else str(folder.absolute())
                row = (run.name, VERSION, json.dumps(run.settings), json.dumps(run.plan), place)
                database.change("INSERT INTO runs VALUES (%s, %s, %s, %s, %s)", row)
            if url is not None:
                draft.write_text(json.dumps({"store": hide_password(url), "run": run.name}) + "\n", "utf-8")
            draft.rename(path)
        except OSError as error:
            raise StoreError(f"{folder} cannot be written to ({error}). Choose another folder.") from None
        except DatabaseFailed as error:
            raise StoreError(
                f"No benchmark can be stored in {hide_password(url or folder)} ({error}). Choose another one."
            ) from None
        return cls.open(folder, url)

    @classmethod
    def open(cls, folder: Path, url: str | None = None) -> Store:
        """Open an existing store, given its folder or its file; raises ``StoreError``.

        ``url`` replaces the one that the folder names, which has no password.
        """
        place, path = (folder.parent, folder) if folder.is_file() else (folder, folder / FILE_NAME)
        link = place / LINK_NAME
        if path.is_file() and path != link:
            if url is not None:
                raise StoreError(f"The store of {folder} is the file {path}. Leave out --store.")
            return cls(place, *_open_run(path))
        if not link.is_file():
            raise StoreError(
                f"{folder} holds no benchmark. Run one first: aiopslab bench --agent runbook --out {folder}"
            )
        try:
            known = json.loads(link.read_text("utf-8"))
            url, name = str(url or known["store"]), str(known["run"])
        except (OSError, ValueError, KeyError, TypeError):
            raise StoreError(f"{link} is damaged. Run the benchmark again in another folder.") from None
        return cls(place, *_open_run(url, name))

    @classmethod
    def open_all(cls, url: str) -> list[Store]:
        """Open the stores of all runs in a PostgreSQL database that have episodes; raises ``StoreError``."""
        place = hide_password(url)
        statement = (
            "SELECT run, folder FROM runs WHERE run IN (SELECT run FROM episodes) ORDER BY folder, run"
        )
        with closing(_connect(url)) as database:
            try:
                rows = database.read(statement)
            except DatabaseFailed:  # no tables
                rows = []
        if not rows:
            raise StoreError(
                f"{place} holds no benchmark. Run one first: aiopslab bench --agent runbook --store {place}"
            )
        return [cls(Path(folder), *_open_run(url, name)) for name, folder in rows]

    def add(self, episode: Episode) -> bool:
        """Store a finished episode; return False if it is stored already. Raises ``StoreFailed``."""
        marks = ", ".join(["%s"] * len(_COLUMNS))
        statement = f"INSERT INTO episodes VALUES ({marks}) ON CONFLICT DO NOTHING"
        return self._change(statement, [self.run.name, *_encode(episode)]) == 1

    def remove(self, key: EpisodeKey) -> None:
        """Remove an episode that is to run again; raises ``StoreFailed``."""
        statement = "DELETE FROM episodes WHERE (run, agent, problem, seed, repeat) = (%s, %s, %s, %s, %s)"
        self._change(statement, (self.run.name, *key))

    def list_episodes(self) -> list[Episode]:
        """Return all episodes, by agent, problem, seed and repeat; raises ``StoreFailed``."""
        columns = ", ".join(_COLUMNS)
        try:
            rows = self._database.read(f"SELECT {columns} FROM episodes WHERE run = %s", (self.run.name,))
        except DatabaseFailed as error:
            raise self._describe(error) from None
        # Databases differ in how they compare texts.
        return sorted((_decode(dict(zip(_COLUMNS, row, strict=True))) for row in rows), key=attrgetter("key"))

    def change_plan(self, plan: Mapping[str, Any]) -> None:
        """Replace the plan, for a run that is extended; raises ``StoreFailed``."""
        self._change("UPDATE runs SET plan = %s WHERE run = %s", (json.dumps(plan), self.run.name))
        self.run = Run(self.run.name, self.run.settings, plan)

    def _change(self, statement: str, values: Sequence[object]) -> int:
        try:
            return self._database.change(statement, values)
        except DatabaseFailed as error:
            raise self._describe(error) from None

    def _describe(self, error: DatabaseFailed) -> StoreFailed:
        return StoreFailed(
            f"The store of {self.folder} failed ({error}). Make sure that there is space and that the database can be "
            f"reached, and continue with: aiopslab bench --resume --out {self.folder}"
        )

    def remove_strays(self) -> None:
        """Remove files of sessions that were cut off, or that were recorded but not stored. Only while nobody writes."""
        known = {self.folder / episode.record for episode in self.list_episodes()}
        sessions = self.folder / SESSIONS
        sessions.mkdir(exist_ok=True)
        for pattern in ("*.json", "unfinished-*.jsonl", ".*.part"):
            for file in sorted(sessions.glob(pattern)):
                if file not in known:
                    file.unlink(missing_ok=True)
        for name in (FILE_NAME, LINK_NAME):
            for draft in self.folder.glob(f".{name}.*"):
                draft.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def hide_password(place: str | Path) -> str:
    """Return the path of a store, or its URL without a password; raises ``StoreError`` if the URL is wrong."""
    try:
        return str(place) if isinstance(place, Path) else remove_password(place)
    except DatabaseFailed as error:
        raise StoreError(f"The store cannot be opened: {error}.") from None


def _connect(place: str | Path) -> Database:
    """Open the SQLite file at a path or the PostgreSQL database at a URL; raises ``StoreError``."""
    hide_password(place)  # only a valid URL gets further
    try:
        return SqliteDatabase(place) if isinstance(place, Path) else PostgresDatabase(place)
    except DatabaseFailed as error:
        raise StoreError(f"The store cannot be opened: {error}.") from None


def _open_run(place: str | Path, run: str | None = None) -> tuple[Database, Run]:
    """Open a database, and read the run of that name, or the only one; raises ``StoreError``."""
    shown, database = hide_password(place), _connect(place)
    where, values = ("", ()) if run is None else (" WHERE run = %s", (run,))
    try:
        rows = database.read(f"SELECT run, version, settings, plan FROM runs{where}", values)
    except DatabaseFailed as error:
        database.close()
        raise StoreError(f"{shown} is no store of a benchmark ({error}). Choose another one.") from None
    if not rows or rows[0][1] != VERSION:
        database.close()
        why = "was written by another version of this program" if rows else "does not have the run"
        raise StoreError(f"{shown} {why}. Run the benchmark again in another folder.")
    name, _, settings, plan = rows[0]
    return database, Run(name, json.loads(settings), json.loads(plan))


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
    """Return the values of an episode's columns, in texts without what a database cannot hold."""
    actions = [[action.name, action.is_valid, list(action.programs)] for action in episode.actions]
    return [
        *(_clean(getattr(episode, name)) for name in _SCALARS),
        *asdict(episode.facts).values(),
        json.dumps(episode.results),
        json.dumps(actions),
    ]


def _clean(value: object) -> object:
    """Replace lone surrogates, and the null characters that PostgreSQL refuses."""
    if not isinstance(value, str):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _decode(row: dict[str, Any]) -> Episode:
    facts = Facts(**{name: row[name] for name in _FACTS})
    actions = [
        Action(name, is_valid, tuple(programs)) for name, is_valid, programs in json.loads(row["actions"])
    ]
    values = {name: row[name] for name in _SCALARS}
    values["success"] = None if row["success"] is None else bool(row["success"])
    return Episode(**values, facts=facts, results=json.loads(row["results"]), actions=actions)

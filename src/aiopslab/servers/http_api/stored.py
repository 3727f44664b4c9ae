"""What is stored in the folder of the results: records of sessions, and benchmarks, also while they run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from aiopslab.benchmark import (
    FILE_NAME,
    SESSIONS,
    Amount,
    Episode,
    Share,
    Source,
    Store,
    StoreError,
    Table,
    build_settings_table,
    build_tables,
    read_sources,
)
from aiopslab.orchestrator import NotARecord, list_records, read_record, to_json
from aiopslab.servers.http_api.errors import HttpError

MAX_LISTED: Final = 200
MAX_RECORD_BYTES: Final = 64 << 20
MAX_DEPTH: Final = 3
MAX_OFFSET_DIGITS: Final = 9
HERE: Final = "(this folder)"
"""Name of a benchmark that is not below the folder of the results but in it; a path of "." is lost in addresses."""
IN_PROGRESS: Final = "in progress"


def list_stored_records(folder: Path) -> list[dict[str, Any]]:
    """Return the latest records of ended sessions, newest first."""
    files = sorted(list_records(folder), key=_get_time, reverse=True)[:MAX_LISTED]
    return [summary for file in files if (summary := _summarize(file)) is not None]


def read_stored_record(folder: Path, name: str) -> dict[str, Any]:
    """Return the record of an ended session, in the folder or of a benchmark below it; raises ``HttpError``."""
    store, _, file = name.rpartition(f"/{SESSIONS}/")
    stores = _find_stores(folder).items() if store else ()
    places = {"": folder} | {benchmark: path / SESSIONS for benchmark, path in stores}
    known = list_records(places[store]) if store in places else []
    path = next((path for path in known if path.name == file), None)
    record = None if path is None else _read(path)
    if record is None:
        raise HttpError(404, "There is no such record. GET /api/records lists the latest.")
    return record


def list_benchmarks(folder: Path) -> list[dict[str, Any]]:
    """Return the benchmarks below a folder."""
    found = []
    for name, path in _find_stores(folder).items():
        try:
            store = Store.open(path)
        except StoreError:  # another version has written it
            continue
        with store:
            episodes = len(store.list_episodes())
            found.append(
                {"name": name, "episodes": episodes, "plan": store.run.plan, "settings": store.run.settings}
            )
    return found


def list_stored_episodes(folder: Path, name: str, text: str, offset: str) -> dict[str, Any]:
    """Return some episodes of a benchmark whose agent or problem contains a text, and how many there are; raises ``HttpError``."""
    if not (offset.isascii() and offset.isdigit() and len(offset) <= MAX_OFFSET_DIGITS):
        raise HttpError(400, "The offset is the number of episodes to leave out, such as 200.")
    episodes = [episode for source in _read_sources(folder, name) for episode in source.episodes]
    found = [episode for episode in episodes if text in f"{episode.agent} {episode.problem}"]
    shown = found[int(offset) : int(offset) + MAX_LISTED]
    return {"total": len(found), "episodes": [_summarize_episode(name, episode) for episode in shown]}


def report_benchmark(folder: Path, name: str) -> dict[str, Any]:
    """Return the tables of a benchmark; raises ``HttpError``."""
    sources = _read_sources(folder, name)
    episodes = [episode for source in sources for episode in source.episodes]
    tables = build_tables(episodes) if episodes else []
    return {
        "name": name,
        "episodes": len(episodes),
        "tables": [_encode_table(table) for table in (*tables, build_settings_table(sources))],
    }


def _read_sources(folder: Path, name: str) -> list[Source]:
    stores = _find_stores(folder)
    if name not in stores:
        raise HttpError(404, "There is no such benchmark. GET /api/benchmarks lists all.")
    try:
        return read_sources([stores[name]])
    except StoreError as error:
        raise HttpError(503, f"The benchmark cannot be read now: {error}") from None


def _summarize_episode(benchmark: str, episode: Episode) -> dict[str, Any]:
    fields = ("agent", "problem", "seed", "repeat", "ending", "success", "steps")
    record = f"{benchmark}/{episode.record}" if episode.record else None
    return {**{field: getattr(episode, field) for field in fields}, "record": record}


def _find_stores(folder: Path) -> dict[str, Path]:
    """Return the folders of benchmarks by their names."""
    files = (file for depth in range(MAX_DEPTH + 1) for file in folder.glob("*/" * depth + FILE_NAME))
    found = sorted(file.parent for file in files)
    return {HERE if path == folder else path.relative_to(folder).as_posix(): path for path in found}


def _summarize(path: Path) -> dict[str, Any] | None:
    record = _read(path)
    if record is None:
        return None
    results = record.get("results") or {}
    return {
        "name": path.name,
        "problem": record["problem_id"],
        "agent": record.get("agent"),
        "seed": record.get("seed"),
        "start_time": record.get("start_time"),
        "ending": record["ending"],
        "success": results.get("success"),
        "steps": len(record["steps"]),
    }


def _read(path: Path) -> dict[str, Any] | None:
    """Return a record; None if it is none, is too large, or its session goes on, so that the answer must not be seen."""
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            return None
        record = read_record(path)
    except (NotARecord, OSError):
        return None
    return None if record["ending"] == IN_PROGRESS else record


def _get_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it was removed meanwhile
        return 0.0


def _encode_table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "header": list(table.header),
        "rows": [_encode_row(row) for row in table.rows],
        "note": table.note,
        "labels": table.labels,
    }


def _encode_row(row: Sequence[object]) -> list[Any]:
    cells: list[Any] = []
    for cell in row:
        if isinstance(cell, Share):
            cells.append(
                to_json(
                    {"count": cell.count, "total": cell.total, "value": cell.value, "interval": cell.interval}
                )
            )
        elif isinstance(cell, Amount):
            cells.append(
                to_json(
                    {"value": cell.value, "unit": cell.unit, "digits": cell.digits, "interval": cell.interval}
                )
            )
        else:
            cells.append(cell)
    return cells

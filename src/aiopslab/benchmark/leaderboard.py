"""Reports over one or several stores: episodes with the names and settings of the runs that produced them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from aiopslab.benchmark.databases import is_url
from aiopslab.benchmark.episodes import Episode
from aiopslab.benchmark.store import Run, Store
from aiopslab.benchmark.tables import Cell, Table
from aiopslab.benchmark.variations import MARK, split_agent


@dataclass(frozen=True)
class Source:
    """The content of one store."""

    name: str
    folder: Path
    run: Run
    episodes: Sequence[Episode]


def read_source(store: Store) -> Source:
    """Read a store; raises ``StoreFailed``."""
    folder = store.folder.absolute()
    return Source(store.folder.name or str(folder), folder, store.run, store.list_episodes())


def read_sources(places: Sequence[str | Path]) -> list[Source]:
    """Read the stores of folders, and all those of PostgreSQL databases given by their URLs; raises ``StoreError``.

    An agent that is in several stores has the name of its store in its own name.
    """
    sources = []
    for place in places:
        stores = Store.open_all(str(place)) if is_url(str(place)) else [Store.open(Path(place))]
        for store in stores:
            with store:
                sources.append(read_source(store))
    counts = Counter(source.name for source in sources)
    sources = [
        source if counts[source.name] == 1 else replace(source, name=f"{source.name} {source.run.name[:6]}")
        for source in sources
    ]
    runs: dict[str, set[tuple[Path, str]]] = defaultdict(set)
    for source in sources:
        for episode in source.episodes:
            runs[episode.agent].add((source.folder, source.run.name))
    return [
        replace(
            source,
            episodes=[_rename(episode, source, len(runs[episode.agent]) > 1) for episode in source.episodes],
        )
        for source in sources
    ]


def _rename(episode: Episode, source: Source, is_ambiguous: bool) -> Episode:
    if not is_ambiguous:
        return episode
    plain, variation = split_agent(episode.agent)
    return replace(episode, agent=f"{plain} ({source.name}){MARK if variation else ''}{variation}")


def build_settings_table(sources: Sequence[Source]) -> Table:
    """Return the settings that produced each store."""
    names = list(dict.fromkeys(name for source in sources for name in source.run.settings))
    rows: list[list[Cell]] = []
    for source in sources:
        began = min((episode.began for episode in source.episodes if episode.began), default=None)
        day = "–" if began is None else datetime.fromtimestamp(began, UTC).date().isoformat()
        seeds = sorted({episode.seed for episode in source.episodes})
        rows.append(
            [
                source.name,
                day,
                len(source.episodes),
                ", ".join(map(str, seeds[:10])) + (", …" if len(seeds) > 10 else ""),
                *(str(source.run.settings.get(name, "–")) for name in names),
            ]
        )
    header = ("store", "begun", "episodes", "seeds", *(name.replace("_", " ") for name in names))
    return Table("settings", "Settings", header, rows)

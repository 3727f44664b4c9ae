"""Reports over one or several stores: episodes with the names and settings of the runs that produced them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from aiopslab.benchmark.episodes import Episode
from aiopslab.benchmark.store import Run, Store
from aiopslab.benchmark.tables import Cell, Table


@dataclass(frozen=True)
class Source:
    """The content of one store."""

    name: str
    folder: Path
    run: Run
    episodes: Sequence[Episode]


def read_sources(folders: Sequence[Path]) -> list[Source]:
    """Read stores; raises ``StoreError``. An agent that is in several has the name of its store in its own name."""
    sources = []
    for folder in folders:
        with Store.open(folder) as store:
            name = store.folder.name or str(store.folder)
            sources.append(Source(name, store.folder.absolute(), store.run, store.list_episodes()))
    places: dict[str, set[Path]] = defaultdict(set)
    for source in sources:
        for episode in source.episodes:
            places[episode.agent].add(source.folder)
    return [
        replace(
            source,
            episodes=[
                _rename(episode, source, len(places[episode.agent]) > 1) for episode in source.episodes
            ],
        )
        for source in sources
    ]


def _rename(episode: Episode, source: Source, is_ambiguous: bool) -> Episode:
    return replace(episode, agent=f"{episode.agent} ({source.name})") if is_ambiguous else episode


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

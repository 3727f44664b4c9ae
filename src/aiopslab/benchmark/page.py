"""The report as one HTML page: style and plots are in the file, nothing is loaded from elsewhere, and no script runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Final
from urllib.parse import quote

from aiopslab.benchmark.episodes import Episode
from aiopslab.benchmark.formats import format_cell, is_number
from aiopslab.benchmark.leaderboard import Source
from aiopslab.benchmark.plots import Bar, plot_intervals, plot_lines, plot_stacks
from aiopslab.benchmark.tables import (
    NO_ACTION,
    Table,
    count_solved,
    count_solved_within,
    group_by_agent,
)
from aiopslab.benchmark.variations import split_agent

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
"""The page contains its style, and a browser loads nothing else for it, whatever the texts of agents contain."""


def build_page(sources: Sequence[Source], tables: Sequence[Table], place: Path) -> str:
    """Return the page for a report; links to session records are relative to ``place``, the file that it will be written to."""
    episodes = [episode for source in sources for episode in source.episodes]
    unvaried = [episode for episode in episodes if not split_agent(episode.agent)[1]]
    counted = [episode for episode in unvaried if episode.is_counted]
    problems = len({episode.problem for episode in episodes})
    style = files("aiopslab.benchmark").joinpath("page.css").read_text("utf-8")
    names = ", ".join(source.name for source in sources)
    body = [
        "<h1>Benchmark report</h1>",
        f"<p>{len(episodes):,} episodes of {len(group_by_agent(unvaried))} agents on {problems} problems, from {escape(names)}.</p>",
        *map(_build_table, tables[:1]),
        '<div class="figures">',
        *_plot_all(counted),
        "</div>",
        *map(_build_table, tables[1:]),
        "<h2>Episodes</h2>",
        "<p>Each verdict links to the record of its session; <code>aiopslab show FILE</code> prints one.</p>",
        *(_list_episodes(source, place) for source in sources),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>Benchmark report: {escape(names)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _plot_all(episodes: Sequence[Episode]) -> Iterator[str]:
    agents = group_by_agent(episodes)
    if not agents:
        return
    bars = [_make_bar(agent, own, index) for index, (agent, own) in enumerate(agents.items())]
    yield _figure("Accuracy with its 95% interval", plot_intervals("Accuracy by agent", bars))
    longest = max(episode.steps for episode in episodes)
    lines = {agent: _list_stairs(own, longest) for agent, own in agents.items()}
    yield _figure(
        "Accuracy if sessions ended after fewer steps", plot_lines("Accuracy by step limit", "steps", lines)
    )
    tasks = sorted({episode.facts.task for episode in episodes})
    if len(tasks) > 1:
        bars = [
            _make_bar(f"{task}, {agent}", chosen, index)
            for task in tasks
            for index, (agent, own) in enumerate(agents.items())
            if (chosen := [episode for episode in own if episode.facts.task == task])
        ]
        yield _figure("Accuracy by task", plot_intervals("Accuracy by task and agent", bars))
    stacks = {}
    for agent, own in agents.items():
        for word, is_solved in (("solved", True), ("not solved", False)):
            chosen = [episode for episode in own if episode.is_solved is is_solved]
            if shares := _count_actions(chosen):
                stacks[f"{agent}, {word}"] = shares
    if stacks:
        yield _figure("Actions, by success", plot_stacks("Distribution of actions", stacks))


def _list_stairs(episodes: Sequence[Episode], longest: int) -> list[tuple[float, float]]:
    """Return the points of a line that rises at each number of steps in which a problem was solved."""
    points = [(0.0, 0.0)]
    for limit in range(1, longest + 1):
        share = count_solved_within(episodes, limit).value or 0.0
        points += [(float(limit), points[-1][1]), (float(limit), share)]
    return points


def _make_bar(name: str, episodes: Sequence[Episode], series: int) -> Bar:
    share = count_solved(episodes)
    return Bar(name, share.value or 0.0, share.interval, series, f"of {share.total} episodes")


def _count_actions(episodes: Sequence[Episode]) -> dict[str, float]:
    counts = Counter(action.name or NO_ACTION for episode in episodes for action in episode.actions)
    total = counts.total()
    return {name: counts[name] / total for name in sorted(counts)}


def _figure(caption: str, plot: str) -> str:
    return f"<figure>\n<figcaption>{escape(caption)}</figcaption>\n{plot}\n</figure>"


def _build_table(table: Table) -> str:
    numeric = [all(is_number(row[place]) for row in table.rows) for place in range(len(table.header))]
    head = "".join(
        f'<th class="number">{escape(name)}</th>' if right else f"<th>{escape(name)}</th>"
        for name, right in zip(table.header, numeric, strict=True)
    )
    rows = ["".join(_build_cell(format_cell(cell), is_number(cell)) for cell in row) for row in table.rows]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<h2 id="{escape(table.name)}">{escape(table.title)}</h2>\n<div class="wide">\n<table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>{note}"
    )


def _build_cell(text: str, is_numeric: bool) -> str:
    return f'<td class="number">{escape(text)}</td>' if is_numeric else f"<td>{escape(text)}</td>"


def _list_episodes(source: Source, place: Path) -> str:
    rows = []
    for episode in source.episodes:
        verdict = "solved" if episode.is_solved else "no verdict" if episode.success is None else "not solved"
        text = escape(verdict)
        if episode.record:
            target = os.path.relpath(source.folder / episode.record, place.parent)
            text = f'<a href="{escape(quote(target))}">{text}</a>'
        cells = (episode.agent, episode.problem, str(episode.seed), str(episode.repeat), episode.ending)
        plain = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(
            f'<tr>{plain}<td class="number">{episode.steps}</td><td class="{verdict.replace(" ", "-")}">{text}</td></tr>'
        )
    head = "".join(
        f"<th>{name}</th>" for name in ("agent", "problem", "seed", "repeat", "ending", "steps", "verdict")
    )
    return (
        f"<details>\n<summary>{escape(source.name)}: {len(source.episodes)} episodes</summary>\n"
        f'<div class="wide">\n<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody>\n</table>\n</div>\n</details>"
    )

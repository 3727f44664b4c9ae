"""The progress of a benchmark: a live display at a terminal, one line per episode elsewhere. Both on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from aiopslab.benchmark import Episode, EpisodeKey, Status, count_solved, group_by_agent
from aiopslab.cli.session_view import sanitize

REFRESH_S: Final = 0.25
SHOWN_JOBS: Final = 12
WHY_CHARS: Final = 120


class View(Protocol):
    """Shows the progress."""

    def show(self, status: Status) -> None:
        """Show the status; called often."""


@contextmanager
def open_view() -> Iterator[View]:
    """Return the display for standard error."""
    console = Console(stderr=True, highlight=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        yield LineView(console)
        return
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield LiveView(live)


class LineView:
    """Prints a line for each finished episode."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def show(self, status: Status) -> None:
        """Print the latest episode."""
        if status.latest is not None:
            done = f"[{len(status.episodes)}/{status.total}]"
            self._console.print(sanitize(f"{done} {format_episode(status.latest)}"), markup=False)


def format_episode(episode: Episode) -> str:
    """Format an episode as one line."""
    verdict = "no verdict" if episode.success is None else "solved" if episode.success else "not solved"
    parts = [
        episode.agent,
        episode.problem,
        f"seed {episode.seed}",
        verdict,
        f"{episode.steps} steps",
        f"{episode.wall_s:.1f} s",
    ]
    if episode.cost_usd:
        parts.append(f"${episode.cost_usd:.3f}")
    if episode.ending != "submitted":
        parts.append(f"{episode.ending}: {episode.why}"[:WHY_CHARS] if episode.why else episode.ending)
    return "  ".join(parts)


class LiveView:
    """A table of the agents so far, and the episodes that are running."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._began = time.monotonic()
        self._shown = 0.0
        self._started: dict[EpisodeKey, float] = {}

    def show(self, status: Status) -> None:
        """Redraw the display, a few times a second at most."""
        now = time.monotonic()
        self._started = {job.key: self._started.get(job.key, now) for job in status.running}
        if now - self._shown < REFRESH_S:
            return
        self._shown = now
        self._live.update(Group(*self._draw(status, now)), refresh=True)

    def _draw(self, status: Status, now: float) -> Iterator[Text | Table]:
        table = Table(box=None, pad_edge=False)
        for column in ("agent", "done", "accuracy", "steps", "cost"):
            table.add_column(column, justify="left" if column == "agent" else "right")
        for agent, own in group_by_agent(status.episodes).items():
            share = count_solved([episode for episode in own if episode.is_counted])
            costs = [episode.cost_usd for episode in own if episode.cost_usd is not None]
            steps = sum(episode.steps for episode in own) / len(own)
            accuracy = "–" if share.value is None else f"{share.value:.0%}"
            table.add_row(
                Text(agent), str(len(own)), accuracy, f"{steps:.1f}", f"${sum(costs):.2f}" if costs else "–"
            )
        yield Text(self._format_progress(status, now), style="bold")
        yield table
        for key, started in list(self._started.items())[:SHOWN_JOBS]:
            yield Text(
                f"  running {now - started:4.0f} s  {key.agent}  {key.problem}  seed {key.seed}", style="dim"
            )

    def _format_progress(self, status: Status, now: float) -> str:
        done, elapsed_s = len(status.episodes), now - self._began
        left = "–"
        if status.new:
            left = _format_duration(elapsed_s / status.new * (status.total - done))
        return f"{done} of {status.total} episodes, {_format_duration(elapsed_s)} elapsed, {left} left"


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"

"""The progress of a benchmark, at a terminal and elsewhere."""

from __future__ import annotations

import io

from rich.console import Console
from rich.live import Live

from aiopslab.benchmark import EpisodeKey, Status
from aiopslab.cli.bench_view import LineView, LiveView
from tests.aiopslab.benchmark.fake import make_episode, make_jobs


def make_status() -> Status:
    jobs = make_jobs(("a", "b"), 3)
    episodes = [
        make_episode(EpisodeKey("a", "problem-0", 0, 0), cost_usd=0.5),
        make_episode(
            EpisodeKey("b", "problem-0", 0, 0), None, ending="agent gone", why="It \x1b[2J fell over."
        ),
    ]
    return Status(episodes, 6, 2, jobs[2:4], episodes[1])


def test_a_terminal_shows_agents_running_episodes_and_the_time_left() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with Live(console=console, auto_refresh=False) as live:
        LiveView(live).show(make_status())
    text = out.getvalue()
    assert "2 of 6 episodes" in text
    assert "left" in text
    assert "100%" in text
    assert "$0.50" in text
    assert "a  problem-1  seed 0" in text


def test_elsewhere_each_episode_is_a_line_without_control_characters() -> None:
    out = io.StringIO()
    view = LineView(Console(file=out, soft_wrap=True))
    status = make_status()
    view.show(status)
    status.latest = None
    view.show(status)
    (line,) = out.getvalue().splitlines()
    assert (
        line == "[2/6] b  problem-0  seed 0  no verdict  3 steps  0.5 s  agent gone: It \ufffd[2J fell over."
    )

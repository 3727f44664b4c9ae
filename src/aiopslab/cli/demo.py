"""The demonstration: a problem is posed, a scripted engineer solves it before one's eyes, and what that was worth is told.

What the engineer looks at is written down beforehand; what it sees, and what it concludes, is of this very world.
Standard output depends on the seed alone; how long it took here is said on standard error.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from aiopslab.agents import find_agent
from aiopslab.cli.cluster_view import call_map
from aiopslab.cli.problems import known_problems, prepared
from aiopslab.cli.progress import Progress
from aiopslab.cli.session_view import bounded, show_results
from aiopslab.orchestrator.orchestrator import Orchestrator
from aiopslab.orchestrator.parser import ResponseParser
from aiopslab.orchestrator.posing import Posed
from aiopslab.orchestrator.session import WALL, Step

PROBLEM: Final = "k8s_target_port-misconfig-mitigation-1"
WIDTH: Final = 110
SHOWN_LINES: Final = 8
SHOWN_CHARS: Final = 400
WINDOW_S: Final = 60.0


def run_demo(seed: int) -> int:
    """Tell the story on the terminal; 0 when it ended well."""
    begun = time.perf_counter()
    out = Console(highlight=False, emoji=False)
    out.width = min(WIDTH, out.width) if out.is_terminal else WIDTH
    with Progress() as progress:
        posed = prepared(known_problems(), PROBLEM, seed, None, progress)
    _situation(out, posed)
    _, engineer = find_agent("engineer")
    orchestrator = Orchestrator(None, seed, on_step=lambda step: _turn(out, step))
    orchestrator.take(posed)
    orchestrator.register_agent(engineer, "engineer", introduce=True)
    _chapter(out, "An engineer goes to work")
    out.print(
        "This one follows a script: where to look is written down, what it finds there is not. A language model, "
        "your own agent or you yourself get the same description, the same actions and the same observations."
    )
    result = asyncio.run(orchestrator.start_problem())
    _chapter(out, "What that was worth")
    out.print(
        "Answers are not taken on trust. The system went on for two minutes, its caches were emptied, and its users, its "
        "workloads, what had been written and every object were looked at:"
    )
    show_results(out, _of_this_world(result["results"]))
    _farewell(out, seed)
    now, requests = posed.environment.now, len(posed.environment.users.results)
    spent_s = time.perf_counter() - begun
    print(
        f"({now:.0f} s of the cloud's life and {requests} requests of users took {spent_s:.1f} s here.)",
        file=sys.stderr,
    )
    return 0 if result["results"].get("success") else 1


def _situation(out: Console, posed: Posed) -> None:
    out.rule("[bold]AIOpsLab in a box: a cloud in one Python process")
    _chapter(out, "An incident")
    out.print(
        "Four simulated machines, a Kubernetes on them, a social network of twenty-seven workloads on that, and users who "
        "read and write all the time. A minute ago something was broken. Whoever is on call is told this:\n"
    )
    for line in posed.prompt.description.strip().splitlines():
        for part in wrap(line, out.width - 4, break_on_hyphens=False) or [""]:
            out.print(f"[dim]│[/] {escape(part)}")
    out.print("\nFrom the users' traces of the last minute, who calls whom and how that goes:")
    out.print(call_map(posed.environment.monitoring.topology.document(WINDOW_S)))


def _turn(out: Console, step: Step) -> None:
    """What the engineer thought, did and saw."""
    thought = " ".join(ResponseParser().parse(step.response)["context"]).strip()
    out.print(f"\n[italic]{escape(thought)}[/]")
    out.print(f"[bold green]>[/] [bold]{escape(_typed(step))}[/]")
    if step.api_name != "submit":
        for line in bounded(step.observation, SHOWN_LINES).splitlines():
            out.print(Padding(Text(line[:SHOWN_CHARS], "dim"), (0, 0, 0, 2), expand=False))


def _typed(step: Step) -> str:
    """An action in the form in which it is easiest to read."""
    if step.api_name == "exec_shell":
        return str(step.args[0])
    return f"{step.api_name}({', '.join(map(repr, step.args))})"


def _of_this_world(results: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the host's clock said, which is never the same twice."""
    return {name: value for name, value in results.items() if name != WALL}


def _farewell(out: Console, seed: int) -> None:
    command = _command()
    out.print(
        f"\nThe same seed tells the same story, byte for byte: this one was seed {seed}. Try it yourself:\n"
        f"  [bold]{command} play {PROBLEM}[/]\n"
        f"  [bold]{command} run {PROBLEM} --agent restarter[/]   (turns everything off and on)\n"
        f"  [bold]{command} list[/]   (all problems)      [bold]{command} --help[/]   (all commands)"
    )


def _chapter(out: Console, title: str) -> None:
    out.print(f"\n[bold cyan]{title}[/]")


def _command() -> str:
    """How the reader can call us: as this demo was called, when that was by a path."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "aiopslab" and called.parent != Path() else "aiopslab"

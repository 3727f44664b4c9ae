"""``aiopslab demo``: a scripted engineer solves a problem, step by step, and the result is judged.

The engineer's checks are scripted; their results and its conclusions come from the running world.
Standard output depends only on the seed; the duration on this computer is printed on standard error.
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
from aiopslab.cli.cluster_view import build_call_table
from aiopslab.cli.output import Progress
from aiopslab.cli.problems import load_problems, prepare_problem
from aiopslab.cli.session_view import limit_lines, show_results
from aiopslab.orchestrator import (
    WALL,
    Orchestrator,
    PreparedProblem,
    ResponseParser,
    Step,
    ignore_progress,
)

PROBLEM: Final = "k8s_target_port-misconfig-mitigation-1"
WIDTH: Final = 110
SHOWN_LINES: Final = 8
SHOWN_CHARS: Final = 400
WINDOW_S: Final = 60.0


def run_demo(seed: int) -> int:
    """Run the demo; return 0 if the problem was solved."""
    started_s = time.perf_counter()
    out = Console(highlight=False, emoji=False)
    out.width = min(WIDTH, out.width) if out.is_terminal else WIDTH
    with Progress() as progress:
        posed = prepare_problem(load_problems(), PROBLEM, seed, None, progress)
    _show_incident(out, posed)
    _, engineer = find_agent("engineer")
    orchestrator = Orchestrator(None, seed, tell=ignore_progress, on_step=lambda step: _show_step(out, step))
    orchestrator.use_problem(posed)
    orchestrator.register_agent(engineer, "engineer", introduce=True)
    _show_heading(out, "The engineer")
    out.print(
        "This engineer follows a script: its checks are fixed, their results are not. A language model, your own agent "
        "or you would get the same description, the same actions and the same observations."
    )
    result = asyncio.run(orchestrator.start_problem())
    _show_heading(out, "The result")
    out.print(
        "The answer is verified, not trusted. The system ran on with empty caches, while the requests of its "
        "users, its workloads, its stored data and all its Kubernetes objects were checked:"
    )
    show_results(out, _select_simulated(result["results"]))
    _show_next_steps(out, seed)
    now, requests = posed.environment.now, len(posed.environment.users.results)
    elapsed_s = time.perf_counter() - started_s
    print(
        f"({now:.0f} simulated seconds with {requests} user requests took {elapsed_s:.1f} s on this computer.)",
        file=sys.stderr,
    )
    return 0 if result["results"].get("success") else 1


def _show_incident(out: Console, posed: PreparedProblem) -> None:
    out.rule("[bold]AIOpsLab in a box: a cloud in one Python process")
    _show_heading(out, "The incident")
    out.print(
        "This process now simulates four machines, a Kubernetes cluster on them, and a social network with 27 workloads, whose "
        "users read and write posts all the time. A minute ago a fault was injected. The engineer on call gets this "
        "description:\n"
    )
    for line in posed.prompt.description.strip().splitlines():
        for part in wrap(line, out.width - 4, break_on_hyphens=False) or [""]:
            out.print(f"[dim]│[/] {escape(part)}")
    out.print("\nThe traces of the last minute show the requests of users and the calls between services:\n")
    out.print(build_call_table(posed.environment.monitoring.topology.document(WINDOW_S)))


def _show_step(out: Console, step: Step) -> None:
    """Print the engineer's thought, its action and the observation."""
    thought = " ".join(ResponseParser().parse(step.response)["context"]).strip()
    out.print(f"\n[italic]{escape(thought)}[/]")
    out.print(f"[bold green]>[/] [bold]{escape(_format_action(step))}[/]")
    if step.api_name != "submit":
        for line in limit_lines(step.observation, SHOWN_LINES).splitlines():
            out.print(Padding(Text(line[:SHOWN_CHARS], "dim"), (0, 0, 0, 2), expand=False))


def _format_action(step: Step) -> str:
    """Format an action for reading: a shell command as the bare command line."""
    if step.api_name == "exec_shell":
        return str(step.args[0])
    return f"{step.api_name}({', '.join(map(repr, step.args))})"


def _select_simulated(results: Mapping[str, Any]) -> dict[str, Any]:
    """Drop wall-clock times, which differ from run to run."""
    return {name: value for name, value in results.items() if name != WALL}


def _show_next_steps(out: Console, seed: int) -> None:
    command = _get_command()
    out.print(
        f"\nThis was seed {seed}; the same seed always gives the same output. What to try next:\n\n"
        f"  Repair the incident yourself:\n    [bold]{command} play {PROBLEM}[/]\n"
        f"  See that a restart of everything does not help:\n"
        f"    [bold]{command} run {PROBLEM} --agent restart-all[/]\n"
        f"  List all problems:\n    [bold]{command} list[/]\n"
        f"  List all commands:\n    [bold]{command} --help[/]"
    )


def _show_heading(out: Console, title: str) -> None:
    out.print(f"\n[bold cyan]{title}[/]")


def _get_command() -> str:
    """Return the command that the reader can type: the path of this program if it was called by a path."""
    program = Path(sys.argv[0])
    return str(program) if program.name == "aiopslab" and program.parent != Path() else "aiopslab"

"""``aiopslab run``: let an agent work on a problem, print its steps as they happen, and print the results."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiopslab.agents import find_agent
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.problems import (
    DONE,
    FAILED,
    INTERRUPTED,
    check_folder,
    check_policy,
    parse_thinking,
    prepare_problem,
)
from aiopslab.cli.session_view import show_ending, show_results, show_step
from aiopslab.orchestrator import Orchestrator, Pace, Step
from aiopslab.orchestrator.models import OpenAIModel
from aiopslab.orchestrator.problems import ProblemRegistry

COMPLETE_ENDINGS: Final = ("submitted", "step limit", "time limit")
"""Endings of a complete session, whether its answer was right or wrong."""


@dataclass(frozen=True)
class RunOptions:
    """The options of ``aiopslab run``."""

    problem: str
    agent: str
    seed: int = 0
    max_steps: int = 30
    model: str | None = None
    results: Path = Path("results")
    judge: str | None = None
    thinking: str = "5"
    policy: str | None = None
    as_json: bool = False
    verbose: bool = False
    env: Sequence[str] = ()
    action_timeout_s: float = Pace.action_timeout_s


def run_problem(problems: ProblemRegistry, options: RunOptions) -> int:
    """Run one session; return 0 if it was complete, whether its answer was right or wrong."""
    thinking_s = parse_thinking(options.thinking)
    check_policy(options.policy)
    name, agent = find_agent(options.agent, options.model, options.env)
    judge = OpenAIModel(options.judge) if options.judge else None
    if judge is not None:
        judge.check()
    check_folder(options.results, "--results")
    out = open_console()
    # An agent's own prints must not mix with the JSON document.
    redirection = redirect_stdout(sys.stderr) if options.as_json else nullcontext()
    with redirection, Progress() as progress:
        posed = prepare_problem(problems, options.problem, options.seed, options.policy, progress)
        progress.clear()

        def on_step(step: Step) -> None:
            if not options.as_json:
                show_step(out, step, options.verbose)

        orchestrator = Orchestrator(
            options.results,
            options.seed,
            thinking_s=thinking_s,
            action_timeout_s=options.action_timeout_s,
            tell=progress,
            on_step=on_step,
            judge=judge,
        )
        orchestrator.use_problem(posed)
        orchestrator.register_agent(agent, name, introduce=True)
        result = asyncio.run(orchestrator.start_problem(options.max_steps))
    if options.as_json:
        print(json.dumps(_build_document(options, name, result), indent=1, default=str))
    else:
        show_results(out, result["results"])
        show_ending(out, result)
    return get_exit_code(result["ending"])


def get_exit_code(ending: str) -> int:
    """Return 0 for a complete session, 130 for an interrupted one, else 1."""
    if ending in COMPLETE_ENDINGS:
        return DONE
    return INTERRUPTED if ending == "interrupted" else FAILED


def _build_document(options: RunOptions, name: str, result: dict[str, Any]) -> dict[str, Any]:
    kept = {key: result[key] for key in ("ending", "why", "results", "session_id")}
    record = str(result["record"]) if result["record"] else None
    return {"problem": options.problem, "agent": name, "seed": options.seed, **kept, "record": record}

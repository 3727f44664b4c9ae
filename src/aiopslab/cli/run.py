"""``aiopslab run``: an agent works on a problem; its steps are shown as they happen, and what they were worth."""

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
from aiopslab.cli.output import console
from aiopslab.cli.problems import (
    DONE,
    FAILED,
    INTERRUPTED,
    check_folder,
    checked_policy,
    prepared,
    thinking,
)
from aiopslab.cli.progress import Progress
from aiopslab.cli.session_view import show_ending, show_results, show_step
from aiopslab.orchestrator.episode import Pace
from aiopslab.orchestrator.models import OpenAIModel
from aiopslab.orchestrator.orchestrator import Orchestrator
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.session import Step

ENDED_WELL: Final = ("submitted", "step limit", "time limit")
"""Endings of a session that ran to its end, whatever the answer was worth."""


@dataclass(frozen=True)
class Wishes:
    """What was asked for at the command line."""

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
    passed: Sequence[str] = ()
    action_timeout_s: float = Pace.action_timeout_s


def run_problem(problems: ProblemRegistry, wishes: Wishes) -> int:
    """Run it; the exit code: 0 when the session ran to its end, whatever the answer was worth."""
    thinking_s, policy = thinking(wishes.thinking), checked_policy(wishes.policy)
    name, agent = find_agent(wishes.agent, wishes.model, wishes.passed)
    judge = OpenAIModel(wishes.judge) if wishes.judge else None
    if judge is not None:
        judge.check()
    check_folder(wishes.results, "--results")
    out = console()
    # What an agent prints must not stand among what a program reads.
    aside = redirect_stdout(sys.stderr) if wishes.as_json else nullcontext()
    with aside, Progress() as progress:
        posed = prepared(problems, wishes.problem, wishes.seed, policy, progress)
        progress.done()

        def on_step(step: Step) -> None:
            if not wishes.as_json:
                show_step(out, step, wishes.verbose)

        orchestrator = Orchestrator(
            wishes.results,
            wishes.seed,
            thinking_s=thinking_s,
            action_timeout_s=wishes.action_timeout_s,
            tell=progress,
            on_step=on_step,
            judge=judge,
        )
        orchestrator.take(posed)
        orchestrator.register_agent(agent, name, introduce=True)
        result = asyncio.run(orchestrator.start_problem(wishes.max_steps))
    if wishes.as_json:
        print(json.dumps(_document(wishes, name, result), indent=1, default=str))
    else:
        show_results(out, result["results"])
        show_ending(out, result)
    return exit_code(result["ending"])


def exit_code(ending: str) -> int:
    """0 for a session that ran to its end."""
    if ending in ENDED_WELL:
        return DONE
    return INTERRUPTED if ending == "interrupted" else FAILED


def _document(wishes: Wishes, name: str, result: dict[str, Any]) -> dict[str, Any]:
    kept = {key: result[key] for key in ("ending", "why", "results", "session_id")}
    record = str(result["record"]) if result["record"] else None
    return {"problem": wishes.problem, "agent": name, "seed": wishes.seed, **kept, "record": record}

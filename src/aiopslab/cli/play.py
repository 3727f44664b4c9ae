"""A person works on a problem at a terminal: ``aiopslab play``, and ``run`` and ``bench`` with ``--agent human``.

The session is recorded like an agent's, under the name ``human``. A debrief follows its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console

from aiopslab.cli.debrief import show_analogy, show_debrief
from aiopslab.cli.live_shell import Keyboard
from aiopslab.cli.output import Progress, open_console
from aiopslab.cli.person import LEFT, UNLIMITED, Person
from aiopslab.cli.problems import DONE, FAILED, check_folder, check_policy, prepare_problem
from aiopslab.cli.session_view import show_ending, show_results
from aiopslab.orchestrator import (
    LIVE_TIMEOUT_S,
    AgentGone,
    Orchestrator,
    PreparedProblem,
    Step,
    catch_ending_signals,
    ignore_progress,
)
from aiopslab.orchestrator.models import ChatModel, open_model
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.validation import list_reference_commands

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions

TIME_LIMIT_S: Final = 7 * 86_400.0
NO_VERDICT: Final = ("agent gone", "agent error", "interrupted")
"""Endings after which there is nothing to show: the person may come back to the same problem."""
COMPLETE: Final = ("submitted", "gave up", "step limit", "time limit", "agent gone")


@dataclass(frozen=True)
class PlayOptions:
    """What a person works on, and how."""

    problem: str
    seed: int
    results: Path
    policy: str | None = None
    max_steps: int = UNLIMITED
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of ``Orchestrator``."""
    model: str | None = None
    """A language model that adds an analogy to the debrief."""
    cluster: KubernetesOptions | None = None
    """The real cluster to work on; None for the embedded cloud."""


def play_problem(problems: ProblemRegistry, options: PlayOptions) -> int:
    """Let a person work on a problem; return 0 if the session is complete or they left."""
    check_policy(options.policy)
    check_folder(options.results, "--results")
    return DONE if play_session(problems, options)["ending"] in COMPLETE else FAILED


def play_session(problems: ProblemRegistry, options: PlayOptions) -> dict[str, Any]:
    """Let a person work on a problem, and show how it went; return what ``start_problem`` returns."""
    out = open_console()
    model = None if options.model is None else open_model(options.model)
    if model is not None:
        model.check()
    with Progress() as progress, ExitStack() as closing:
        posed = prepare_problem(
            problems, options.problem, options.seed, options.policy, progress, options.cluster
        )
        closing.callback(posed.environment.close)
        commands: list[str] = []
        if not posed.environment.is_live:  # a cluster cannot be copied to try the repair
            progress("preparing the debrief")
            commands = list_reference_commands(posed)
        progress.clear()
        return _play(posed, commands, options, out, model)


def _play(
    posed: PreparedProblem, commands: list[str], options: PlayOptions, out: Console, model: ChatModel | None
) -> dict[str, Any]:
    settings = {"agent_timeout_s": TIME_LIMIT_S, "tell": ignore_progress, **options.settings}
    if posed.environment.is_live:
        settings["action_timeout_s"] = LIVE_TIMEOUT_S
    keyboard = Keyboard()

    def show_step(step: Step) -> None:
        person.show_step(step)

    orchestrator = Orchestrator(options.results, posed.task.seed, on_step=show_step, **settings)
    posed = orchestrator.use_problem(posed)
    person = Person(posed, keyboard, out, options.max_steps, commands)
    orchestrator.register_agent(person, person.name)
    with keyboard.catch_interrupts(), catch_ending_signals(_leave):
        result = asyncio.run(orchestrator.start_problem(options.max_steps))
    if result["ending"] not in NO_VERDICT:
        show_results(out, result["results"])
        show_debrief(out, posed, result["session"], commands)
        if model is not None:
            show_analogy(out, posed, model)
        out.print()
    show_ending(out, result)
    return result


def _leave(_number: int) -> None:
    """End the session as if the person had left."""
    raise AgentGone(LEFT)

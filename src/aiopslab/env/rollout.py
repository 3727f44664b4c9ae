"""The part of an environment that runs in the world's process: begins a session there, and takes its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiopslab.orchestrator import Orchestrator, Stage, ignore_progress


@dataclass(frozen=True)
class Start:
    """What an agent gets before its first step."""

    task: str
    """The kind of the task, such as ``detection``."""
    namespace: str
    """The namespace of the application."""
    description: str
    instructions: str
    actions: dict[str, str]
    """The documentation of each action."""
    tools: tuple[dict[str, Any], ...]
    """The same actions for function calling."""
    severity: float


@dataclass(frozen=True)
class StepResult:
    """One step, as the caller's process sees it."""

    observation: str
    valid: bool
    severity: float
    at_s: float
    took_s: float
    changed: dict[str, str]
    ending: str | None
    """How the episode ended with this step, or None."""
    results: dict[str, Any] | None
    """The evaluation, at the end."""
    record: Path | None


def begin(stage: Stage, number: int, records: Path | None, settings: Mapping[str, Any]) -> Start:
    """Begin a session on the prepared problem of a copy."""
    problem = stage.problem
    assert problem is not None, "no problem was opened here"
    stage.orchestrator = Orchestrator(
        records, probs=stage.registry, tell=ignore_progress, episodes=number - 1, **settings
    )
    stage.orchestrator.agent_name = "environment"
    problem = stage.orchestrator.use_problem(problem)
    prompt = problem.prompt
    tools = tuple(
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in problem.tools
    )
    return Start(
        problem.task.task_type,
        problem.environment.namespace,
        prompt.description,
        prompt.instructions,
        dict(prompt.actions),
        tools,
        problem.health.severity,
    )


def renumber(stage: Stage, number: int) -> None:
    """Give the session of a fork a number, and so a record, of its own."""
    assert stage.orchestrator is not None and stage.orchestrator.session is not None
    stage.orchestrator.session.episode = number


def take_step(stage: Stage, answer: str, max_steps: int) -> StepResult:
    """Perform the action of an answer; judge and record the session if it ends with it."""
    orchestrator = stage.orchestrator
    assert orchestrator is not None, "no session has begun here"
    step, ending = orchestrator.take_step(answer, max_steps)
    result = None if ending is None else orchestrator.finish_problem(ending)
    return StepResult(
        step.observation,
        step.valid,
        step.health.severity,
        step.at_s,
        step.took_s,
        step.changed,
        ending,
        None if result is None else result["results"],
        None if result is None else result["record"],
    )


def finish(stage: Stage) -> tuple[dict[str, Any], Path | None]:
    """Judge and record the session as it stands; return its evaluation and its record."""
    assert stage.orchestrator is not None, "no session has begun here"
    result = stage.orchestrator.finish_problem("interrupted")
    return result["results"], result["record"]

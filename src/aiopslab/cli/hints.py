"""Hints about a problem, each more telling than the one before, made from its faults and the state that its session began with."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aiopslab.cli.typed_calls import WITHOUT_ANSWER
from aiopslab.generators.fault import Fault
from aiopslab.orchestrator import PreparedProblem
from aiopslab.orchestrator.evaluation import tally_requests
from aiopslab.orchestrator.problems import find_path
from aiopslab.orchestrator.tasks import Task

WINDOW_S: Final = 30.0
"""Users' requests of this time before the session count."""
SHOWN: Final = 8


def make_hints(problem: PreparedProblem, commands: list[str]) -> list[str]:
    """Return the hints; ``commands`` are those of the reference repair. Call this when the session begins."""
    task = problem.task
    hints = [_describe_users(problem), _describe_objects(problem)]
    if task.faults:
        hints += _describe_faults(task.faults, problem)
        if commands and is_repair(task):
            hints.append("These commands repair it:\n" + "\n".join(map(shorten_command, commands)))
    elif not task.breaks:
        hints.append("Nothing is wrong: everything that you see also happens in a healthy system.")
    if task.task_type not in WITHOUT_ANSWER:
        hints.append(f"The right answer: {format_answer(problem.expected)}.")
    return hints


def _describe_users(problem: PreparedProblem) -> str:
    environment = problem.environment
    tally = tally_requests(environment, environment.now - WINDOW_S, environment.now)
    bad = [
        f"{journey} ({(tally.failed[journey] + tally.slow[journey]) / count:.0%} failed or slow)"
        for journey, count in tally.seen.items()
        if tally.failed[journey] + tally.slow[journey] > 0
    ]
    if not bad:
        return "Look at what users do: all their recent requests succeeded in time."
    return f"Look at what users do: {', '.join(bad)}. Follow the calls behind them, in traces and logs."


def _describe_objects(problem: PreparedProblem) -> str:
    unhealthy = problem.health.unhealthy
    if not unhealthy:
        return "Look at what is declared and at what programs log: no workload, Service or node is unhealthy."
    more = f" and {len(unhealthy) - SHOWN} more" if len(unhealthy) > SHOWN else ""
    return (
        f"These objects are unhealthy, as a cause or as a consequence: {', '.join(unhealthy[:SHOWN])}{more}."
    )


def _describe_faults(faults: tuple[Fault, ...], problem: PreparedProblem) -> Iterator[str]:
    number = "There is one cause" if len(faults) == 1 else f"There are {len(faults)} independent causes"
    layers = " and ".join(dict.fromkeys(f"{fault.layer}, with {fault.course} symptoms" for fault in faults))
    yield f"{number}. Layer: {layers}."
    yield "\n".join(describe_path(problem, fault) for fault in faults)
    yield "\n".join(describe_cause(fault) for fault in faults)
    if changes := problem.environment.describe_injected():
        yield "This was changed: " + "; ".join(changes)


def describe_path(problem: PreparedProblem, fault: Fault) -> str:
    """Say how one gets from the front door to the faulty component, or to the node at fault."""
    path = find_path(problem.task.app, fault.truth.component)[::-1]
    nodes = fault.machines_at_fault(problem.environment)
    place = f", on the node {' and '.join(nodes)}" if nodes else ""
    way = f"From the front door, follow {' -> '.join(path)}" if len(path) > 1 else f"The place is {path[0]}"
    return f"{way}{place}."


def describe_cause(fault: Fault) -> str:
    """Say what happened, as the fault's page does."""
    return " ".join((inspect.getdoc(type(fault)) or "").split())


def describe_repair(fault: Fault) -> str:
    """Say what the reference repair does, as the fault's page does."""
    return " ".join((inspect.getdoc(type(fault).recover) or "").split())


def is_repair(task: Task) -> bool:
    """Return whether the task asks for a repair, alone or beside an answer."""
    return task.task_type in (*WITHOUT_ANSWER, "incident")


def format_answer(expected: Any) -> str:
    """Return a right answer as text."""
    if isinstance(expected, Mapping):
        return "; ".join(f"{name}: {format_answer(value)}" for name, value in expected.items())
    return ", ".join(map(str, expected)) if isinstance(expected, list | tuple) else str(expected)


def shorten_command(command: str) -> str:
    """Return the first line of a command, without the document that it reads."""
    first, *rest = command.strip().splitlines()
    return f"  {first}{' …' if rest else ''}"

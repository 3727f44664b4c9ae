"""``aiopslab list``: print the known problems (never what is wrong in them), agents, applications or faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiopslab.cli.problems import UsageError, load_problems
from aiopslab.orchestrator.problems import TYPES


def list_agents(as_json: bool) -> int:
    """Print the registered agents; return the exit code."""
    from aiopslab.agents import describe_agent, load_agents

    return _print_rows({name: describe_agent(factory) for name, factory in load_agents().items()}, as_json)


def list_apps(as_json: bool) -> int:
    """Print the registered applications; return the exit code."""
    from aiopslab.apps import load_applications

    return _print_rows({name: _get_summary(app) for name, app in load_applications().items()}, as_json)


def list_faults(as_json: bool) -> int:
    """Print the registered faults; return the exit code."""
    from aiopslab.generators.fault import load_faults

    return _print_rows({name: _get_summary(fault) for name, fault in load_faults().items()}, as_json)


def _get_summary(cls: type) -> str:
    """Return the first line of a class's docstring."""
    return (cls.__doc__ or "").partition("\n")[0]


def _print_rows(descriptions: Mapping[str, str], as_json: bool) -> int:
    """Print names and their descriptions; return the exit code."""
    rows = {name: description.replace("``", "'") for name, description in descriptions.items()}
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    width = max(map(len, rows))
    print("\n".join(f"{name:<{width}}  {description}" for name, description in rows.items()))
    return 0


def list_problems(task: str | None, app: str | None, files: Sequence[Path], as_json: bool) -> int:
    """Print the problems of a task and an application; return the exit code. Raises ``UsageError``."""
    registry = load_problems(files)
    if task is not None and task not in TYPES:
        raise UsageError(f"There is no task '{task}'. Choose one of: {', '.join(TYPES)}.")
    problems = [registry.get_problem(pid) for pid in registry.get_problem_ids(task)]
    rows = [
        {"id": problem.id, "app": problem.app.name, "task": problem.task_type}
        for problem in problems
        if app in (None, problem.app.name)
    ]
    if app is not None and not rows:
        apps = {problem.app.name for problem in problems}
        raise UsageError(f"There is no problem of '{app}'. Choose one of: {', '.join(sorted(apps))}.")
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    widths = {column: max(map(len, (column, *(row[column] for row in rows)))) for column in ("id", "app")}
    print(f"{'id':<{widths['id']}}  {'app':<{widths['app']}}  task")
    for row in rows:
        print(f"{row['id']:<{widths['id']}}  {row['app']:<{widths['app']}}  {row['task']}")
    return 0

"""``aiopslab list``: print the known problems (never what is wrong in them), agents, applications or faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiopslab.cli.problems import UsageError, load_problems
from aiopslab.orchestrator.problems import TYPES
from aiopslab.utils import get_summary


def list_agents(as_json: bool) -> int:
    """Print the registered agents; return the exit code."""
    from aiopslab.agents import load_agents

    return _print_extensions(load_agents(), as_json)


def list_apps(as_json: bool) -> int:
    """Print the registered applications; return the exit code."""
    from aiopslab.apps import load_applications

    return _print_extensions(load_applications(), as_json)


def list_faults(as_json: bool) -> int:
    """Print the registered faults; return the exit code."""
    from aiopslab.generators.fault import load_faults

    return _print_extensions(load_faults(), as_json)


def _print_extensions(extensions: Mapping[str, object], as_json: bool) -> int:
    """Print names and summaries; return the exit code."""
    rows = {name: get_summary(extension).replace("``", "'") for name, extension in extensions.items()}
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

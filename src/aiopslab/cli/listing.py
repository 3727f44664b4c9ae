"""``aiopslab list``: which problems there are, never what is wrong in them; and which agents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from aiopslab.cli.problems import WrongCall, known_problems
from aiopslab.orchestrator.problems.registry import TYPES


def list_agents(as_json: bool) -> int:
    """Print the agents that are known by name; the exit code."""
    from aiopslab.agents.registry import about, agents

    rows = {name: about(made_by).replace("``", "'") for name, made_by in agents().items()}
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    width = max(map(len, rows))
    print("\n".join(f"{name:<{width}}  {told}" for name, told in rows.items()))
    return 0


def list_problems(task: str | None, app: str | None, files: Sequence[Path], as_json: bool) -> int:
    """Print them; the exit code."""
    problems = known_problems(files)
    if task is not None and task not in TYPES:
        raise WrongCall(f"There is no task '{task}'. Choose one of: {', '.join(TYPES)}.")
    made = [problems.get_problem(pid) for pid in problems.get_problem_ids(task)]
    rows = [
        {"id": one.id, "app": one.app.name, "task": one.task_type}
        for one in made
        if app in (None, one.app.name)
    ]
    if app is not None and not rows:
        apps = dict.fromkeys(one.app.name for one in made)
        raise WrongCall(f"There is no problem of '{app}'. Choose one of: {', '.join(sorted(apps))}.")
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    widths = {column: max(map(len, (column, *(row[column] for row in rows)))) for column in ("id", "app")}
    print(f"{'id':<{widths['id']}}  {'app':<{widths['app']}}  task")
    for row in rows:
        print(f"{row['id']:<{widths['id']}}  {row['app']:<{widths['app']}}  {row['task']}")
    return 0

"""``aiopslab list``: print the known problems (never what is wrong in them), agents, applications or faults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aiopslab.cli.clusters import find_missing
from aiopslab.cli.problems import check_noise, load_problems
from aiopslab.orchestrator.problems import ProblemRegistry, generate_ids, list_suite, select_problems
from aiopslab.utils import get_summary

if TYPE_CHECKING:
    from aiopslab.cloud.kubernetes import KubernetesOptions


def list_agents(as_json: bool) -> int:
    """Print the registered agents; return the exit code."""
    from aiopslab.agents import list_aliases, load_agents

    agents = load_agents()
    return _print_extensions(agents, as_json, {name: list_aliases(name) for name in agents})


def list_apps(as_json: bool) -> int:
    """Print the registered applications; return the exit code."""
    from aiopslab.apps import load_applications

    return _print_extensions(load_applications(), as_json)


def list_faults(as_json: bool) -> int:
    """Print the registered faults; return the exit code."""
    from aiopslab.generators.fault import load_faults

    return _print_extensions(load_faults(), as_json)


def _print_extensions(
    extensions: Mapping[str, object], as_json: bool, aliases: Mapping[str, Sequence[str]] | None = None
) -> int:
    """Print names, summaries and aliases; return the exit code."""
    rows = {name: get_summary(extension).replace("``", "'") for name, extension in extensions.items()}
    for name, former in (aliases or {}).items():
        rows[name] += f" Also: {', '.join(former)}." if former else ""
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    width = max(map(len, rows))
    print("\n".join(f"{name:<{width}}  {description}" for name, description in rows.items()))
    return 0


def list_problems(
    task: str | None,
    app: str | None,
    suite: str | None,
    files: Sequence[Path],
    as_json: bool,
    cluster: KubernetesOptions | None = None,
) -> int:
    """Print the problems of a task, an application and a suite; return the exit code. Raises ``NoSuchSelection``.

    With ``cluster``, print of each problem whether it is available there.
    """
    registry = load_problems(files)
    ids = select_problems(registry, list_suite(registry, suite or "all"), task, app)
    return _print_problems(registry, ids, as_json, cluster)


def generate_problems(
    seed: int,
    count: int,
    task: str | None,
    app: str | None,
    noise: str | None,
    files: Sequence[Path],
    as_json: bool,
) -> int:
    """Print the ids of new problems from a seed; return the exit code. Raises ``NoSuchSelection``."""
    registry = load_problems(files)
    ids = [pid for pid in registry.get_problem_ids() if registry.is_drawn(pid)]
    drawn = select_problems(registry, ids, task, app)
    return _print_problems(registry, generate_ids(drawn, seed, count, check_noise(noise)), as_json)


def _print_problems(
    registry: ProblemRegistry, ids: Sequence[str], as_json: bool, cluster: KubernetesOptions | None = None
) -> int:
    rows = [
        {"id": pid, "app": registry.get_app_name(pid), "task": registry.get_task_type(pid)} for pid in ids
    ]
    if cluster is not None:
        missing = find_missing([row["id"] for row in rows], registry, cluster)
        for row in rows:
            need = missing[row["id"]]
            row["kubernetes"] = f"not available: needs {need}" if need else "available"
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    columns = list(rows[0])
    widths = {column: max(map(len, (column, *(row[column] for row in rows)))) for column in columns[:-1]}
    for row in ({column: column for column in columns}, *rows):
        print("  ".join(f"{row[column]:<{widths.get(column, 0)}}" for column in columns))
    return 0

"""``aiopslab export --format atif|harbor``: sessions as trajectories, problems as task folders."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Final

from aiopslab.adapters import make_trajectory, write_task
from aiopslab.cli.export import require_new_folder
from aiopslab.orchestrator import deploy, list_records, open_problem, read_record, stage
from aiopslab.orchestrator.tasks import Task

MAX_STEPS: Final = 30


def export_sessions(source: str, out: Path, as_json: bool) -> int:
    """Write the trajectory of a session record, or of each record in a folder; return the exit code.

    Raises ``UsageError`` and ``NotARecord``.
    """
    path = Path(source)
    paths = list_records(path) if path.is_dir() else [path]
    trajectories = {f"{file.stem}.json": make_trajectory(read_record(file)) for file in paths}
    require_new_folder(out)
    for name, trajectory in trajectories.items():
        (out / name).write_text(json.dumps(trajectory, indent=1, ensure_ascii=False))
    return _print_files(list(trajectories), out, as_json)


def export_task(task: Task, out: Path, as_json: bool) -> int:
    """Write a problem as a task folder of Harbor; return the exit code. Raises ``UsageError``."""
    require_new_folder(out)
    stage(task, deploy(task, task.seed, _report), _report)
    return _print_files(write_task(out, open_problem(task), task.seed, MAX_STEPS), out, as_json)


def _report(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _print_files(files: list[str], out: Path, as_json: bool) -> int:
    written = {"folder": str(out), "files": files}
    print(json.dumps(written, indent=2) if as_json else f"{out}: {', '.join(files)}")
    return 0

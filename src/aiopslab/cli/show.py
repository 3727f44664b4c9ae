"""``aiopslab show``: print recorded sessions, those that were cut off included."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiopslab.cli.output import open_console
from aiopslab.cli.problems import DONE
from aiopslab.cli.session_view import sanitize, show_results, show_step
from aiopslab.orchestrator import list_records, read_record
from aiopslab.orchestrator.evaluation import parse_step


def show_records(paths: Sequence[Path], verbose: bool) -> int:
    """Print each record in full, and one line for each record of a folder; raises ``NotARecord``."""
    out = open_console()
    for path in paths:
        if path.is_dir():
            for file in list_records(path):
                out.print(sanitize(f"{_format_line(read_record(file))}  {file.name}"), markup=False)
            continue
        record = read_record(path)
        out.print(sanitize(_format_line(record)), style="bold", markup=False)
        for step in record["steps"]:
            show_step(out, parse_step(step), verbose)
        show_results(out, record.get("results") or {})
        why = f": {record['why']}" if record.get("why") else "."
        out.print(sanitize(f"How it ended: {record['ending']}{why}"), markup=False)
    return DONE


def _format_line(record: dict[str, Any]) -> str:
    success = (record.get("results") or {}).get("success")
    verdict = "no verdict" if success is None else "success" if success else "failure"
    problem = record["problem_id"] or "unknown problem"
    return f"{problem}  {record.get('agent')}  seed {record.get('seed')}  {record['ending']}  {verdict}"

"""Print a session for people: its steps as they happen, its results and how it ended.

Output may be stored in a terminal's scrollback or a CI log, so secrets are redacted. Control characters in observations are
replaced, so that they cannot control the reader's terminal.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console

from aiopslab.orchestrator import Redactor, Step, find_secrets
from aiopslab.orchestrator.evaluation import summarize_results

LINE_CHARS: Final = 100
FULL_LINES: Final = 40
"""Maximum number of lines of an observation that ``--verbose`` prints."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def sanitize(text: str) -> str:
    """Redact secrets and replace control characters."""
    return _CONTROL.sub("\ufffd", Redactor(find_secrets(os.environ)).redact(text))


def format_step(step: Step) -> str:
    """Format a step as two lines: its number, time and action; the first line of its observation."""
    action = shorten(format_action(step), LINE_CHARS)
    first = next((line for line in step.observation.splitlines() if line.strip()), "")
    mark = "" if step.valid else "refused: "
    return f"{step.number:>3}  {step.at_s:>6.0f} s  {action}\n{'':>14}{mark}{shorten(first, LINE_CHARS)}"


def format_action(step: Step) -> str:
    """Format the action of a step as a call."""
    if not step.api_name:
        return "(no action)"
    keywords = [f"{name}={value!r}" for name, value in step.kwargs.items()]
    return f"{step.api_name}({', '.join([*map(repr, step.args), *keywords])})"


def shorten(text: str, limit_chars: int) -> str:
    """Join a text into one line of at most ``limit_chars`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1]}…"


def limit_lines(text: str, limit: int = FULL_LINES) -> str:
    """Return the first lines of a text and a note about how many were dropped."""
    lines = text.rstrip("\n").splitlines()
    if len(lines) <= limit:
        return "\n".join(lines)
    return "\n".join((*lines[:limit], f"… {len(lines) - limit} more lines"))


def show_step(out: Console, step: Step, verbose: bool) -> None:
    """Print a step."""
    if not verbose:
        out.print(sanitize(format_step(step)), markup=False)
        return
    out.print(f"\n{step.number}. at {step.at_s:.0f} s", style="bold")
    out.print(sanitize(step.response.strip()), markup=False)
    out.print(sanitize(limit_lines(step.observation)), style=None if step.valid else "yellow", markup=False)


def show_results(out: Console, results: Mapping[str, Any]) -> None:
    """Print the results of a session; without trailing spaces if the output is not a terminal."""
    table = summarize_results(results)
    if out.is_terminal:
        out.print(table)
        return
    with out.capture() as captured:
        out.print(table)
    out.print(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE), end="", markup=False)


def show_ending(out: Console, result: Mapping[str, Any]) -> None:
    """Print how a session ended and the path of its record."""
    why = f": {result['why']}" if result["why"] else "."
    out.print(f"How it ended: {result['ending']}{why}", markup=False)
    out.print(result["record_error"] or f"Record: {result['record'] or 'none'}", markup=False)

"""A session for people: its steps as they happen, and how it ended.

What is printed may be kept, by a screen's memory or by whoever builds with it: so it is shown without secrets. And what
an agent has printed does not steer the screen of whoever watches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Final

from rich.console import Console

from aiopslab.orchestrator.evaluation import summary
from aiopslab.orchestrator.redaction import Redactor, secrets_of
from aiopslab.orchestrator.session import Step

LINE_CHARS: Final = 100
FULL_LINES: Final = 40
"""So many lines of an observation are shown in full."""
_STEERING: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown(text: str) -> str:
    """A text that anybody may see on a screen."""
    return _STEERING.sub("\ufffd", Redactor(secrets_of(os.environ)).text(text))


def step_line(step: Step) -> str:
    """A step in one line: when, what, what came of it first, and how bad things were then."""
    action = short(called(step), LINE_CHARS)
    first = next((line for line in step.observation.splitlines() if line.strip()), "")
    mark = "" if step.valid else "refused: "
    return f"{step.number:>3}  {step.at_s:>6.0f} s  {action}\n{'':>14}{mark}{short(first, LINE_CHARS)}"


def called(step: Step) -> str:
    """The action of a step as it was called."""
    if not step.api_name:
        return "(no action)"
    named = [f"{name}={value!r}" for name, value in step.kwargs.items()]
    return f"{step.api_name}({', '.join([*map(repr, step.args), *named])})"


def short(text: str, most: int) -> str:
    """A text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def bounded(text: str, most: int = FULL_LINES) -> str:
    """The first lines of a text, and how many more there are."""
    lines = text.rstrip("\n").splitlines()
    if len(lines) <= most:
        return "\n".join(lines)
    return "\n".join((*lines[:most], f"… {len(lines) - most} more lines"))


def show_step(to: Console, step: Step, in_full: bool) -> None:
    """Print a step as it happened."""
    if not in_full:
        to.print(shown(step_line(step)), markup=False)
        return
    to.print(f"\n{step.number}. at {step.at_s:.0f} s", style="bold")
    to.print(shown(step.response.strip()), markup=False)
    to.print(shown(bounded(step.observation)), style=None if step.valid else "yellow", markup=False)


def show_results(to: Console, results: Mapping[str, Any]) -> None:
    """Print what a session was worth; in a file or a pipe without the blanks that fill a table's lines."""
    table = summary(results)
    if to.is_terminal:
        to.print(table)
        return
    with to.capture() as captured:
        to.print(table)
    to.print(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE), end="", markup=False)


def show_ending(to: Console, result: Mapping[str, Any]) -> None:
    """Print how a session ended, and where its record is."""
    why = f": {result['why']}" if result["why"] else "."
    to.print(f"How it ended: {result['ending']}{why}", markup=False)
    to.print(result["record_error"] or f"Record: {result['record'] or 'none'}", markup=False)

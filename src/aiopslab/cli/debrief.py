"""The debrief after a person's session: what was wrong, what they did, what an expert would have done, and plots over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from rich.console import Console

from aiopslab.cli.hints import (
    describe_cause,
    describe_path,
    describe_repair,
    format_answer,
    is_repair,
    shorten_command,
)
from aiopslab.cli.session_view import format_action, sanitize, shorten
from aiopslab.cli.text_plot import draw_blocks, draw_marks
from aiopslab.cli.typed_calls import WITHOUT_ANSWER
from aiopslab.orchestrator import SUBMIT, PreparedProblem, Step
from aiopslab.orchestrator.evaluation import parse_step, tally_requests
from aiopslab.orchestrator.models import ChatModel, Message, ModelFailed, RedactingModel

BEFORE_S: Final = 120.0
"""Time before the session that the plots show."""
COLUMN_S: Final = 2.0
"""The least time of a column."""
COLUMNS: Final = 72
ACTION_CHARS: Final = 90
ANALOGY: Final = (
    "You get the facts of an incident in a cloud. Explain it to a newcomer with one analogy from everyday life, in at most five "
    "sentences of plain text: what broke, why users noticed it, and how it is repaired. Say which part of the analogy stands for which "
    "component. Add no facts."
)


def show_debrief(
    out: Console, problem: PreparedProblem, record: Mapping[str, Any], commands: Sequence[str]
) -> None:
    """Print the debrief of a session from its record; ``commands`` are those of the reference repair."""
    steps = [parse_step(step) for step in record["steps"]]
    parts = {
        "What was wrong": _describe_fault(problem),
        "What you did": _describe_steps(steps, record),
        "What an expert would have done": _describe_expert(problem, commands),
        "Users and severity over time": _plot(problem, record, steps),
    }
    for title, lines in parts.items():
        out.print(f"\n[bold]{title}[/]")
        for line in lines:
            out.print(sanitize(f"  {line}"), markup=False)


def show_analogy(out: Console, problem: PreparedProblem, model: ChatModel) -> None:
    """Print an analogy that a language model finds for what was wrong, or why it finds none."""
    faults = problem.task.faults
    if not faults:
        return
    facts = "\n".join((*_describe_fault(problem), *map(describe_repair, faults)))
    asked = [Message("system", ANALOGY), Message("user", facts)]
    try:
        text = RedactingModel(model, problem.make_redactor()).complete(asked).text.strip()
    except ModelFailed as error:
        text = f"{model.name} gave none: {error}"
    out.print("\n[bold]An analogy[/]")
    for line in text.splitlines():
        out.print(sanitize(f"  {line}"), markup=False)


def _describe_fault(problem: PreparedProblem) -> Iterator[str]:
    task = problem.task
    if not task.breaks:
        yield "Nothing: this was a healthy system."
    elif not task.faults:
        yield "The author of this problem injects a fault and does not describe it."
    for fault in task.faults:
        truth = fault.truth
        where = ", ".join((truth.component, *truth.also_at_fault))
        yield describe_cause(fault)
        yield f"Where: {where}. Level and type: {truth.system_level}, {truth.fault_type}."
    yield from problem.environment.describe_injected()


def _describe_steps(steps: Sequence[Step], record: Mapping[str, Any]) -> Iterator[str]:
    changing = set(record["results"].get("harm", {}).get("changing_steps", ()))
    for step in steps:
        if step.number in changing or step.api_name == SUBMIT:
            action = step.args[0] if step.api_name == "exec_shell" and step.args else format_action(step)
            changed = f"  [{', '.join(step.changed)}]" if step.changed else ""
            yield f"{step.number:>3}  {step.at_s:>6.0f} s  {shorten(str(action), ACTION_CHARS)}{changed}"
    reading = len(steps) - len(changing) - sum(step.api_name == SUBMIT for step in steps)
    hints = len(record["agent_settings"].get("hints", ()))
    yield f"{_count(reading, 'step')} changed nothing. You used {_count(hints, 'hint')}."
    for regression in record["results"].get("harm", {}).get("regressions", ()):
        yield f"Step {regression['step']} made things worse."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _describe_expert(problem: PreparedProblem, commands: Sequence[str]) -> Iterator[str]:
    task = problem.task
    if not task.breaks:
        yield "See that users, objects, alerts and logs are as ever, and say so."
    for fault in task.faults:
        yield describe_path(problem, fault)
        if is_repair(task):
            yield describe_repair(fault)
    if is_repair(task):
        yield from map(shorten_command, commands)
    if task.task_type not in WITHOUT_ANSWER:
        yield f"Then answer: {format_answer(problem.expected)}"


def _plot(problem: PreparedProblem, record: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[str]:
    began_s = record["simulated"]["began_s"]
    start_s, end_s = began_s - BEFORE_S, problem.environment.now
    width = max(1, min(COLUMNS, int((end_s - start_s) / COLUMN_S)))
    edges_s = [start_s + (end_s - start_s) * column / width for column in range(width + 1)]
    spans = list(pairwise(edges_s))
    yield f"users served  {draw_blocks([_measure_served(problem, *span) for span in spans])}"
    yield f"severity      {draw_blocks([_find_severity(record, steps, span[1] - began_s) for span in spans])}"
    marks = {step.at_s: "s" if step.api_name == SUBMIT else str(step.number) for step in steps}
    yield f"your steps    {draw_marks(marks, -BEFORE_S, end_s - began_s, width)}"
    ends = f"{-BEFORE_S:.0f} s", f"{end_s - began_s:.0f} s"
    yield f"              {ends[0]}{ends[1].rjust(width - len(ends[0]))}"
    yield "The session began at 0 s. s: your submission, +: several steps. The system was judged after the last step."


def _measure_served(problem: PreparedProblem, start_s: float, end_s: float) -> float | None:
    """Return the share of requests that began in a time and succeeded."""
    seen, failed, _ = tally_requests(problem.environment, start_s, end_s)
    return 1 - failed.total() / seen.total() if seen.total() else None


def _find_severity(record: Mapping[str, Any], steps: Sequence[Step], at_s: float) -> float | None:
    """Return the severity at a time of the session as far as it was measured: at its beginning, after each step, and at the end."""
    if at_s < 0:
        return None
    duration_s = record["simulated"]["duration_s"]
    after = record["results"].get("harm", {}).get("after")
    if at_s > duration_s and after is not None:
        return float(after["severity"])
    known = [record["health"]["severity"]]
    known += [step.health.severity for step in steps if step.at_s + step.took_s <= at_s]
    return float(known[-1])

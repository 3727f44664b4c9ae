"""Floors: baseline agents that act without looking. An agent that is not better than these has shown nothing.

They get the same information as any other agent: they read the form of the answer from the documentation of ``submit``.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any, Literal

from aiopslab.agents.registry import agent
from aiopslab.orchestrator.validation import (
    APPLY_ALL,
    FLUSH_FILTERS,
    LIST_NAMESPACES,
    LIST_WORKLOADS,
    ROLL_BACK_RELEASES,
    UNDO_ROLLOUTS,
)

Form = Literal["yes or no", "components", "analysis", "incident", "prediction", "nothing"]


def format_call(name: str, *args: object) -> str:
    """Format a call of an action as agents write it."""
    return f"```\n{name}({', '.join(json.dumps(arg) for arg in args)})\n```"


def detect_form(actions: Mapping[str, str]) -> Form:
    """Return the form of answer that the documentation of ``submit`` asks for."""
    documentation = actions.get("submit", "")
    if "system_level" in documentation:
        return "analysis"
    if "within_min" in documentation:
        return "prediction"
    if "diagnosis" in documentation:
        return "incident"
    if "has_anomaly" in documentation or ('"Yes"' in documentation and '"No"' in documentation):
        return "yes or no"
    if "faulty_components" in documentation or '["' in documentation or "[]" in documentation:
        return "components"
    return "nothing"


class Floor:
    """Base class of agents whose ``work`` is a generator that yields actions and is sent observations."""

    def __init__(self) -> None:
        self.form: Form = "nothing"
        self._work: Generator[str, str, None] | None = None

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Read the form of the answer from the documented actions."""
        self.form = detect_form(actions)

    def get_action(self, state: str) -> str:
        """Return the next action; raises ``RuntimeError`` after the last one."""
        try:
            if self._work is None:
                self._work = self.work()
                return next(self._work)
            return self._work.send(state)
        except StopIteration:
            raise RuntimeError("The agent has no more actions, but the session is not over.") from None

    def work(self) -> Generator[str, str, None]:
        """Yield actions; each ``yield`` returns the observation."""
        raise NotImplementedError

    def submit(self, answers: Mapping[Form, Any], diagnosis: str = "") -> str:
        """Return the ``submit`` action with the answer for this problem's form."""
        if self.form == "nothing":
            return format_call("submit")
        if self.form == "incident":
            words = diagnosis or " / ".join(answers["analysis"].values())
            return format_call("submit", words, answers["components"])
        return format_call("submit", answers.get(self.form))


@agent("idle")
class Idle(Floor):
    """Submits at once that everything is fine, without looking."""

    def work(self) -> Generator[str, str, None]:
        """Submit."""
        guess = {"system_level": "Application", "fault_type": "Code Defect"}
        yield self.submit({"yes or no": "No", "components": [], "analysis": guess})


@agent("alarmist")
class Alarmist(Floor):
    """Always reports a fault, and blames every component."""

    def work(self) -> Generator[str, str, None]:
        """List the workloads if the task asks for components, and submit all of them."""
        names: list[str] = []
        if self.form in ("components", "incident"):
            seen = yield format_call("exec_shell", LIST_WORKLOADS)
            rows = [line.split() for line in seen.splitlines()]
            names = [row[1] for row in rows if len(row) == 2]
        guess = {"system_level": "Virtualization", "fault_type": "Misconfiguration"}
        yield self.submit({"yes or no": "Yes", "components": names, "analysis": guess})


@agent("restarter")
class Restarter(Floor):
    """Restarts everything, and submits."""

    def work(self) -> Generator[str, str, None]:
        """Restart every workload, delete every pod, wait, and submit."""
        restart = "kubectl -n $ns rollout restart deployment/$name"
        yield format_call("exec_shell", f"{LIST_WORKLOADS} | while read ns name; do {restart}; done")
        delete = "kubectl -n $ns delete pods --all"
        yield format_call("exec_shell", f"for ns in {LIST_NAMESPACES}; do {delete}; done", 120)
        yield format_call("exec_shell", "sleep 25")
        guess = {"system_level": "Virtualization", "fault_type": "Operation Error"}
        yield self.submit({"yes or no": "Yes", "components": [], "analysis": guess})


@agent("reverter")
class Reverter(Floor):
    """Reverts every change that can be reverted, without looking, and submits."""

    def work(self) -> Generator[str, str, None]:
        """Undo all rollouts, releases, applied changes and packet filters; then submit."""
        for line in (UNDO_ROLLOUTS, ROLL_BACK_RELEASES, APPLY_ALL, FLUSH_FILTERS):
            yield format_call("exec_shell", line, 300)
        yield format_call("exec_shell", "sleep 25")
        guess = {"system_level": "Application", "fault_type": "Misconfiguration"}
        yield self.submit({"yes or no": "Yes", "components": [], "analysis": guess})

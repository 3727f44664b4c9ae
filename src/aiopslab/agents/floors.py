"""Floors: what can be had without looking. An agent that does no better than these has shown nothing.

They are agents like any other and know nothing but what they are told: how a problem wants to be answered they read
from the documentation of ``submit``.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any, Literal

from aiopslab.agents.registry import agent
from aiopslab.orchestrator.validation import taking_back

Form = Literal["yes or no", "components", "analysis", "nothing"]


def call(name: str, *args: object) -> str:
    """A call as an agent writes it."""
    return f"```\n{name}({', '.join(json.dumps(arg) for arg in args)})\n```"


def form_of(actions: Mapping[str, str]) -> Form:
    """What ``submit`` wants, by its own documentation."""
    told = actions.get("submit", "")
    if "system_level" in told:
        return "analysis"
    if "has_anomaly" in told or ('"Yes"' in told and '"No"' in told):
        return "yes or no"
    return "components" if "faulty_components" in told or '["' in told or "[]" in told else "nothing"


class Floor:
    """Works through its own ``work``: yields answers and is sent what came of them."""

    def __init__(self) -> None:
        self.form: Form = "nothing"
        self._work: Generator[str, str, None] | None = None

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """What the problem is and what can be done."""
        self.form = form_of(actions)

    def get_action(self, state: str) -> str:
        """The next answer."""
        try:
            if self._work is None:
                self._work = self.work()
                return next(self._work)
            return self._work.send(state)
        except StopIteration:
            raise RuntimeError("I have nothing more to say, and the session goes on.") from None

    def work(self) -> Generator[str, str, None]:
        """All that it does."""
        raise NotImplementedError

    def answer(self, found: Mapping[Form, Any]) -> str:
        """Submit what fits the form."""
        return call("submit") if self.form == "nothing" else call("submit", found[self.form])


@agent("idle")
class Idle(Floor):
    """Looks at nothing and submits at once that all is well."""

    def work(self) -> Generator[str, str, None]:
        """One answer."""
        guess = {"system_level": "Application", "fault_type": "Code Defect"}
        yield self.answer({"yes or no": "No", "components": [], "analysis": guess})


@agent("alarmist")
class Alarmist(Floor):
    """Says that something is wrong, whatever it is, and that it is everywhere."""

    def work(self) -> Generator[str, str, None]:
        """Ask what there is, where that is asked for, and name all of it."""
        named: list[str] = []
        if self.form == "components":
            seen = yield call("exec_shell", taking_back.WORKLOADS)
            rows = [line.split() for line in seen.splitlines()]
            named = [row[1] for row in rows if len(row) == 2]
        guess = {"system_level": "Virtualization", "fault_type": "Misconfiguration"}
        yield self.answer({"yes or no": "Yes", "components": named, "analysis": guess})


@agent("restarter")
class Restarter(Floor):
    """Turns everything off and on again, and submits."""

    def work(self) -> Generator[str, str, None]:
        """Restart every workload, delete every pod, wait, and say that something was wrong."""
        restart = "kubectl -n $ns rollout restart deployment/$name"
        yield call("exec_shell", f"{taking_back.WORKLOADS} | while read ns name; do {restart}; done")
        delete = "kubectl -n $ns delete pods --all"
        yield call("exec_shell", f"for ns in {taking_back.NAMESPACES}; do {delete}; done", 120)
        yield call("exec_shell", "sleep 25")
        guess = {"system_level": "Virtualization", "fault_type": "Operation Error"}
        yield self.answer({"yes or no": "Yes", "components": [], "analysis": guess})


@agent("reverter")
class Reverter(Floor):
    """Takes back whatever can be taken back, without looking at anything, and submits."""

    def work(self) -> Generator[str, str, None]:
        """Undo every rollout, return to every first release and to all that was applied, and let all packets through."""
        for line in (taking_back.UNDO, taking_back.FIRST_RELEASE, taking_back.APPLY, taking_back.FILTERS):
            yield call("exec_shell", line, 300)
        yield call("exec_shell", "sleep 25")
        guess = {"system_level": "Application", "fault_type": "Misconfiguration"}
        yield self.answer({"yes or no": "Yes", "components": [], "analysis": guess})

"""An engineer with a runbook: looks, forms hypotheses, repairs the smallest thing, verifies, and submits.

It works without a language model, through the documented actions only. It knows no ground truth and no problem id; what it
can find is written in `causes`. It is the baseline that an agent with a model should beat.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any, Final

from aiopslab.agents.floors import Floor, Form
from aiopslab.agents.registry import agent
from aiopslab.agents.runbook.causes import find_causes
from aiopslab.agents.runbook.cluster_causes import Cause
from aiopslab.agents.runbook.survey import Steps, Survey, run, survey

NAMESPACE: Final = re.compile(r"^Namespace: (\S+)", re.MULTILINE)
SETTLE: Final = "sleep 115"
MAX_ROUNDS: Final = 3
"""How often it repairs and verifies."""
LAST_LOOK: Final = 18
"""It begins no further round after this many actions, so that it can submit in time."""
LAST_ACTION: Final = 28
"""It submits what it has found so far when it has taken this many actions; sessions usually allow 30."""
FEW: Final = 0.01
"""A share of failed calls that nobody calls an incident."""


@agent("runbook")
class Runbook(Floor):
    """Works through a runbook without a model: surveys, tests hypotheses, repairs, verifies."""

    def __init__(self) -> None:
        super().__init__()
        self.namespace = "default"
        self.actions = 0
        self.causes: list[Cause] = []
        """What it thinks is wrong, so far."""

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Read the form of the answer and the application's namespace."""
        super().init_context(problem, instructions, actions)
        found = NAMESPACE.search(problem)
        self.namespace = found.group(1) if found else self.namespace

    def get_action(self, state: str) -> str:
        """Return the next action."""
        self.actions += 1
        return self._answer(True) if self.actions >= LAST_ACTION else super().get_action(state)

    def work(self) -> Generator[str, str, None]:
        """Survey, diagnose, repair where that is asked for, and submit."""
        seen = yield from survey(self.namespace)
        if self.form != "yes or no":  # only that form asks whether anything is wrong
            causes = yield from find_causes(seen, self.namespace)
            self.causes = causes[:1]
            if self.form in ("nothing", "incident"):
                yield from self._repair(seen, causes)
        yield self._answer(is_ill(seen))

    def _repair(self, seen: Survey, causes: list[Cause]) -> Steps[None]:
        """Repair the most likely cause, and look again; what is still ill has another cause. Those whose repair helped are kept."""
        tried: set[tuple[str, ...]] = set()
        helped: list[Cause] = []
        for _ in range(MAX_ROUNDS):
            cause = next((cause for cause in causes if cause.repair and cause.repair not in tried), None)
            if cause is None:
                break
            tried.add(cause.repair)
            for line in cause.repair:
                yield from run(line, 120)
            yield from run(SETTLE, 120)
            before, seen = seen, (yield from survey(self.namespace))
            if count_symptoms(seen) < count_symptoms(before):
                helped.append(cause)
                self.causes = helped
            if not is_ill(seen) or self.actions > LAST_LOOK:
                break
            causes = yield from find_causes(seen, self.namespace)

    def _answer(self, ill: bool) -> str:
        causes = self.causes or [Cause((), "Application", "Misconfiguration", "nothing was found")]
        first = causes[0]
        diagnosis = " ".join(
            f"{cause}. It is a {cause.kind.lower()} of the {cause.level.lower()} level." for cause in causes
        )
        answers: dict[Form, Any] = {
            "yes or no": "Yes" if ill else "No",
            "components": list(dict.fromkeys(name for cause in causes for name in cause.components)),
            "analysis": {"system_level": first.level, "fault_type": first.kind},
        }
        return self.submit(answers, diagnosis)


def count_symptoms(seen: Survey) -> int:
    """Return the number of things that are not as they should be."""
    calls = (*seen.failing_calls, *seen.slow_calls, *seen.silent_calls)
    return len(seen.unready) + len(calls) + sum(bool(node["trouble"]) for node in seen.nodes.values())


def is_ill(seen: Survey) -> bool:
    """Return whether users are likely to notice something."""
    failing = [share for _, _, share in seen.failing_calls if share > FEW]
    answers = sum(call["value"] for call in seen.calls.get("Answers", ()))
    served = sum(call["value"] for call in seen.calls.get("Served", ()))
    return bool(
        seen.unready
        or failing
        or answers > FEW * served
        or seen.slow_calls
        or seen.silent_calls
        or any(log["count"] > 20 for log in seen.logs.values())
        or any(node["trouble"] for node in seen.nodes.values())
    )

"""Floors: baseline agents that act without diagnosing. An agent that is not better than these has shown nothing.

They get the same information as any other agent: they read the form of the answer from the documentation of ``submit``, and
the namespace from the description. ``noop``, ``yes`` and ``random`` answer; the others type a fixed repair first, whatever the
task is, and report a fault.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from random import Random
from typing import Any, ClassVar, Final, Literal

from aiopslab.agents.registry import agent
from aiopslab.orchestrator.validation import (
    APPLY_ALL,
    BLIND_REPAIRS,
    FLUSH_FILTERS,
    LIST_NAMESPACES,
    LIST_WORKLOADS,
    NEWEST,
    ROLL_BACK_RELEASES,
    UNDO_ROLLOUTS,
)

Form = Literal["yes or no", "components", "analysis", "incident", "prediction", "nothing"]
NAMESPACE: Final = re.compile(r"^Namespace: (\S+)", re.MULTILINE)
REPAIR_TIMEOUT_S: Final = 300


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
        self.namespace = "default"
        self._work: Generator[str, str, None] | None = None

    def init_context(self, problem: str, instructions: str, actions: Mapping[str, str]) -> None:
        """Read the form of the answer from the documented actions, and the namespace from the description."""
        self.form = detect_form(actions)
        found = NAMESPACE.search(problem)
        self.namespace = found.group(1) if found else self.namespace

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


@agent("noop", "idle")
class Noop(Floor):
    """Submits at once that everything is fine, without looking."""

    def work(self) -> Generator[str, str, None]:
        """Submit."""
        guess = {"system_level": "Application", "fault_type": "Code Defect"}
        yield self.submit({"yes or no": "No", "components": [], "analysis": guess})


@agent("yes", "alarmist")
class Yes(Floor):
    """Always reports a fault, and blames every component."""

    def work(self) -> Generator[str, str, None]:
        """List the workloads if the task asks for components, and submit all of them."""
        names: list[str] = []
        if self.form in ("components", "incident"):
            names = parse_workloads((yield format_call("exec_shell", LIST_WORKLOADS)))
        guess = {"system_level": "Virtualization", "fault_type": "Misconfiguration"}
        yield self.submit({"yes or no": "Yes", "components": names, "analysis": guess})


@agent("random")
class RandomAnswer(Floor):
    """Answers at random, after restarting a random workload if a repair is asked for."""

    levels: ClassVar = ("Hardware", "Operating System", "Virtualization", "Application")
    fault_types: ClassVar = (
        "Misconfiguration",
        "Code Defect",
        "Authentication Issue",
        "Network/Storage Issue",
        "Operation Error",
        "Dependency Problem",
    )

    def __init__(self, seed: str = "") -> None:
        super().__init__()
        self._seed = seed

    def work(self) -> Generator[str, str, None]:
        """Draw from the seed and the load of the pods: the same session draws the same, another session something else."""
        seen = yield format_call("exec_shell", f"{LIST_WORKLOADS}; kubectl top pods -A --no-headers")
        draw = Random(f"{self._seed} {seen}")
        name = draw.choice(parse_workloads(seen) or ["unknown"])
        if self.form in ("nothing", "incident"):
            yield format_call("exec_shell", f"kubectl -n {self.namespace} rollout restart deployment/{name}")
            yield format_call("exec_shell", "sleep 25")
        guess = {"system_level": draw.choice(self.levels), "fault_type": draw.choice(self.fault_types)}
        yield self.submit({"yes or no": draw.choice(("Yes", "No")), "components": [name], "analysis": guess})


class BlindRepair(Floor):
    """Base class of floors that type fixed lines, wait, and submit that there was a fault."""

    lines: ClassVar[tuple[str, ...]]
    """What is typed; ``{ns}`` is the application's namespace."""
    guess: ClassVar = {"system_level": "Virtualization", "fault_type": "Misconfiguration"}

    def work(self) -> Generator[str, str, None]:
        """Type the lines, wait until they have taken effect, and submit."""
        yield from self.repair(())

    def repair(self, components: tuple[str, ...]) -> Generator[str, str, None]:
        """Type the lines, wait until they have taken effect, and submit these components."""
        for line in self.lines:
            yield format_call("exec_shell", self.fill(line), REPAIR_TIMEOUT_S)
        yield format_call("exec_shell", "sleep 25")
        yield self.submit({"yes or no": "Yes", "components": list(components), "analysis": self.guess})

    def fill(self, line: str) -> str:
        """Return a line with the application's namespace."""
        return line.replace("{ns}", self.namespace)


@agent("restart-all", "restarter")
class RestartAll(BlindRepair):
    """Restarts every workload, deletes every pod, and submits."""

    lines = (
        f"{LIST_WORKLOADS} | while read ns name; do kubectl -n $ns rollout restart deployment/$name; done",
        f"for ns in {LIST_NAMESPACES}; do kubectl -n $ns delete pods --all; done",
    )
    guess: ClassVar = {"system_level": "Virtualization", "fault_type": "Operation Error"}


@agent("revert-all", "reverter")
class RevertAll(BlindRepair):
    """Undoes all rollouts and releases, applies everything again, removes packet filters, and submits."""

    lines = (UNDO_ROLLOUTS, ROLL_BACK_RELEASES, APPLY_ALL, FLUSH_FILTERS)
    guess: ClassVar = {"system_level": "Application", "fault_type": "Misconfiguration"}


@agent("undo-all")
class UndoAll(BlindRepair):
    """Undoes the last rollout of every workload, and submits."""

    lines = BLIND_REPAIRS["undo all"]


@agent("apply-all")
class ApplyAll(BlindRepair):
    """Applies every object as it was last applied, and every release again, and submits."""

    lines = BLIND_REPAIRS["apply all again"]


@agent("roll-back-all")
class RollBackAll(BlindRepair):
    """Rolls every release back to its first revision, undoes every rollout, and submits."""

    lines = BLIND_REPAIRS["roll back all"]


@agent("drain-all")
class DrainAll(BlindRepair):
    """Drains the workers in turn, and submits."""

    lines = BLIND_REPAIRS["drain all"]


@agent("recreate-all")
class RecreateAll(BlindRepair):
    """Deletes all Deployments and Services, creates them again from a dump, and submits."""

    lines = BLIND_REPAIRS["recreate from a dump"]


@agent("reset-all")
class ResetAll(BlindRepair):
    """Resets every object that differs from what was last applied, and submits."""

    lines = BLIND_REPAIRS["reset live to last-applied"]


@agent("guarded-script")
class GuardedScript(BlindRepair):
    """Follows a fixed script that touches only what looks unhealthy, and submits."""

    lines = BLIND_REPAIRS["a fixed script of guarded lines"]


@agent("revert-newest")
class RevertNewest(BlindRepair):
    """Reverts the object with the newest resource version, and blames it."""

    lines = BLIND_REPAIRS["revert the newest change"]

    def work(self) -> Generator[str, str, None]:
        """Find the newest object, revert it, and submit it."""
        seen = yield format_call("exec_shell", self.fill(NEWEST))
        yield from self.repair((seen.split("\n")[0],))


def parse_workloads(text: str) -> list[str]:
    """Return the names in lines of a namespace and a name."""
    rows = [line.split() for line in text.splitlines()]
    return [row[1] for row in rows if len(row) == 2]

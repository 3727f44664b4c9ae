"""The incident task: a page comes in; diagnose and repair in one session."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from aiopslab.generators.fault import Fault
from aiopslab.orchestrator.tasks.analysis import LABELS
from aiopslab.orchestrator.tasks.localization import LocalizationTask
from aiopslab.orchestrator.tasks.mitigation import REPAIRED, MitigationTask
from aiopslab.utils import InvalidSubmissionError

WINDOW_S: Final = 60.0
"""Users' requests that a ticket tells of: those of the last minute."""
MAX_CHARS: Final = 20_000
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "Misconfiguration": ("misconfig", "configur", "wrong", "incorrect", "invalid", "mismatch", "setting", "instead of"),
    "Code Defect": ("bug", "defect", "broken release", "bad release", "bad image", "regression", "kernel", "crash"),
    "Authentication Issue": ("authenti", "authoriz", "credential", "permission", "privilege", "revoked", "denied", "role"),
    "Network/Storage Issue": (
        "network", "packet", "latency", "delay", "connect", "disk", "storage", "volume", "i/o", "filesystem", "database",
    ),
    "Operation Error": (
        "operator", "operation", "by hand", "manual", "scaled", "deleted", "removed", "redeploy", "mistake",
"dropped", "changed",
    ),
    "Dependency Problem": ("depend", "missing", "nonexistent", "non-existent", "does not exist", "unavailable", "no node"),
}  # fmt: skip
"""Phrases that express each fault type."""
WORD: Final = re.compile(r"[a-z]+|[0-9]+")
WORD_START: Final = "(?<![a-z0-9])"
STEM_CHARS: Final = 5
"""Words are compared by this many first letters: ``scaled`` matches ``scales``."""
WORDS_PER_PROOF: Final = 15
"""The more words count as evidence, the more of them a diagnosis must have: two, and one more for every 15."""
FEW_WORDS: Final = 6
"""Of fewer words than these, one is enough: a Deployment that is gone was deleted, and there is not more to say."""
COMMON: Final = frozenset(
    WORD.findall("""
    about after again alone also another anything application because before being cannot cluster component connection container
    continue could deployment does each else every exist fail failing fault from further give have help here hotelreservation
    keep lacks like longer made most much need node nothing operator other parameter permanently pods problem program return
    running same service several should show socialnetwork some start stay still that their them then there these they thing
    this those time under until used users uses what when where which while whose with without workload would
    """)
)
"""Words of documentation that are no evidence."""
FIELDS: Final = frozenset(
    WORD.findall("""
    annotations apiversion containers data false kind labels limits metadata name namespace none null spec status template true
    type value
    """)
)
"""Words of every object, which are no evidence."""


@dataclass(frozen=True)
class ChecklistItem:
    """One thing that a right diagnosis says: at least ``needs`` of these phrases."""

    what: str
    phrases: tuple[str, ...]
    needs: int = 1
    are_names: bool = False
    """The phrases are names, not beginnings of words."""

    def is_met(self, text: str) -> bool:
        """Whether a text says it."""
        before, after = ("(?<![a-z0-9-])", "(?![a-z0-9])") if self.are_names else (WORD_START, "")
        patterns = (f"{before}{re.escape(phrase)}{after}" for phrase in self.phrases)
        return sum(re.search(pattern, text.lower()) is not None for pattern in patterns) >= self.needs

    def __str__(self) -> str:
        count = f"{self.needs} of: " if self.needs > 1 else ""
        return f"{self.what}: {count}{', '.join(self.phrases)}"


def build_checklist(
    fault: Fault, components: Iterable[str] = (), nodes: Iterable[str] = (), changed: Iterable[str] = ()
) -> tuple[ChecklistItem, ...]:
    """Build the checklist of a diagnosis from a fault's truth, parameters and documentation.

    Names of ``components``, and words that these begin with, are no evidence; ``nodes`` are faulty ones. ``changed`` are words of what the
    fault changed: an engineer who quotes the wrong value has seen it.
    """
    components = tuple(components)
    truth, machines = fault.truth, tuple(nodes)
    kinds = dict.fromkeys(
        phrase
        for kind in (truth.fault_type, *truth.also_fault_types)
        for phrase in (kind.lower(), *KINDS[kind])
    )
    stems = dict.fromkeys((*machines, *_find_evidence(fault, components)))
    common = {*COMMON, *FIELDS}
    listed = " ".join((*components, *LABELS["system_level"], *LABELS["fault_type"])).lower()
    seen = [
        word
        for word in changed
        if word not in common and not re.search(f"{WORD_START}{re.escape(word)}", listed)
    ]
    evidence = dict.fromkeys((*stems, *seen))
    return (
        ChecklistItem("where it is", (truth.component, *truth.also_right, *machines), are_names=True),
        ChecklistItem("what kind of fault it is", tuple(kinds)),
        ChecklistItem("the evidence", tuple(evidence), _count_proofs(len(stems))),
    )


def _count_proofs(words: int) -> int:
    return 1 if words < FEW_WORDS else 2 + words // WORDS_PER_PROOF


def _find_evidence(fault: Fault, components: Iterable[str]) -> Iterator[str]:
    """Yield stems of the words that a fault's name, parameters, objects and documentation use.

    Without words that anybody can list: names of components, and labels of analyses.
    """
    module = sys.modules[type(fault).__module__].__doc__ or ""
    kinds = " ".join(concerned[0].partition(".")[0].removesuffix("s") for concerned in fault.concerned)
    values = fault.facts["parameters"].values()
    parameters = [
        str(value) for value in values if not isinstance(value, bool) and value != fault.truth.component
    ]
    text = " ".join(
        (fault.name.replace("_", " "), kinds, type(fault).__doc__ or "", module, *parameters)
    ).lower()
    listed = " ".join((fault.truth.component, *components, *LABELS["system_level"], *LABELS["fault_type"]))
    known = {word[:STEM_CHARS] for word in (*COMMON, *WORD.findall(listed.lower()))}
    for word in WORD.findall(text):
        if len(word) >= STEM_CHARS - 1 and not {word[:STEM_CHARS], word.removesuffix("s")} & known:
            yield word[:STEM_CHARS]


class IncidentTask(MitigationTask):
    """The agent is paged, repairs the application, and submits a diagnosis and the faulty components."""

    task_type: ClassVar[str] = "incident"
    goal: ClassVar[str] = (
        "you were paged; find out what is wrong and repair it, so that users permanently get correct and timely responses "
        "again. Remove the cause, change nothing else, and lose no data that users have written. When you are done, submit "
        "your diagnosis in a few sentences (where the cause is, what kind of fault it is, and the evidence, with the objects "
        "and values concerned) and the list of the faulty components. The state of the system, the components and the "
        "diagnosis are judged."
    )
    example: ClassVar[str] = 'submit("component-a is down, because ...", ["component-a"])'

    def get_task_description(self) -> str:
        """Return the description with the page."""
        return f"{super().get_task_description()}\n{self.page}".rstrip() + "\n"

    @cached_property
    def page(self) -> str:
        """The page and the open tickets at the first use, when the session begins; empty before the problem is staged."""
        if not hasattr(self, "environment"):
            return ""
        page = self.environment.read_page().rstrip()
        tickets = [f"- {ticket}" for ticket in (self._write_ticket(), self.noise.ticket) if ticket]
        return "\n".join([*(("The page:", "", page, "") if page else ()), "The open tickets:", "", *tickets])

    def submit(self, diagnosis: str, components: list[str]) -> dict[str, Any]:  # type: ignore[override]  # its own form
        """Submit the diagnosis of the finished repair. This ends the session.

        Args:
            diagnosis (str): where the cause was, what kind of fault it was, and the evidence, in a few sentences.
            components (list[str]): names of the faulty components.

        Example:
            submit("component-a is down, because ...", ["component-a"])
        """
        if not isinstance(diagnosis, str) or len(diagnosis) > MAX_CHARS:
            raise InvalidSubmissionError(
                f"The diagnosis must be a text of at most {MAX_CHARS} characters: {self.example}"
            )
        return {"diagnosis": diagnosis, "components": self._make_localization().submit(components)}

    def get_expected(self) -> dict[str, Any]:
        """Return the goal of the repair, the checklist and the components."""
        return {
            "system": REPAIRED,
            "components": self._make_localization().get_expected(),
            "diagnosis": [str(item) for items in self.checklists for item in items],
        }

    @property
    def checklists(self) -> list[tuple[ChecklistItem, ...]]:
        """The checklist of each fault."""
        staged, names = hasattr(self, "environment"), [component.name for component in self.app.components]
        changed = self.environment.find_injected_words() if staged else ()
        return [
            build_checklist(
                fault,
                names,
                fault.machines_at_fault(self.environment) if staged else (),
                changed,
            )
            for fault in self.faults
        ]

    def check_diagnosis(self, text: str) -> list[str]:
        """Return the items of the checklists that a diagnosis lacks."""
        return [str(item) for items in self.checklists for item in items if not item.is_met(text)]

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        """Judge the system, the components and the diagnosis; the agent succeeds if all three are right."""
        given: dict[str, Any] = soln or {"diagnosis": "", "components": []}
        lacking = self.check_diagnosis(given["diagnosis"])
        located = self._make_localization().eval(given["components"], trace, duration)
        repaired = super().eval(soln, trace, duration)
        self.results |= {
            "success": repaired["success"] and located["success"] and not lacking,
            "components_correct": located["success"],
            "diagnosis_correct": not lacking,
            "diagnosis_lacks": lacking,
        }
        return dict(self.results)

    def _make_localization(self) -> LocalizationTask:
        """Return a localization of the same faults, which parses and judges the components."""
        task = LocalizationTask(self.app, self.faults)
        task.ans = self.ans
        if hasattr(self, "environment"):
            task.environment = self.environment
        return task

    def _write_ticket(self) -> str:
        """Describe what users saw in the last minute; alerts may not fire yet, or may be those of other teams only."""
        end_s = self.environment.now - self.environment.timeout_s
        results = self.environment.users.results
        seen = {name: results.between(end_s - WINDOW_S, end_s, name) for name in results.journeys}
        failing = [f"'{name}' in {users.error_rate:.0%}" for name, users in seen.items() if users.error_rate]
        if failing:
            return f"Users report that their attempts fail: {', '.join(failing)} of cases."
        name = max(seen, key=lambda name: seen[name].p99_s)
        return f"Users report that something is not right; '{name}' takes up to {seen[name].p99_s:.1f} s."

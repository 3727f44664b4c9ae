"""Where is it wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from aiopslab.orchestrator.tasks.base import Task
from aiopslab.orchestrator.tasks.naming import component_named
from aiopslab.utils.status import InvalidSubmissionError

MOST_NAMES: Final = 100


class LocalizationTask(Task):
    """The agent names the components where the trouble has its cause."""

    task_type: ClassVar[str] = "localization"
    goal: ClassVar[str] = (
        "find out which components are at fault: where the trouble has its cause, not where it shows. "
        "Submit the list of their names, the likeliest first, or an empty list if nothing is wrong."
    )
    example: ClassVar[str] = 'submit(["component-a", "component-b"])'

    def submit(self, faulty_components: list[str]) -> list[str]:
        """Submit the answer, which ends the session.

        Args:
            faulty_components (list[str]): names of the components at fault, the likeliest first; an empty list if none is.

        Example:
            submit(["component-a", "component-b"])
        """
        # One name for a list of one leaves no doubt about what is meant.
        given = [faulty_components] if isinstance(faulty_components, str) else faulty_components
        if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
            raise InvalidSubmissionError(
                'The answer must be a list of names: submit(["component-a", "component-b"]), or submit([]) '
                "if nothing is wrong."
            )
        if len(given) > MOST_NAMES:
            raise InvalidSubmissionError(
                f"The answer may have at most {MOST_NAMES} names. Name those at fault only."
            )
        return list(dict.fromkeys(component_named(self.app, name) for name in given))

    def expected(self) -> list[str]:
        """The components at fault."""
        return [right[0] for right in self.right_answers()]

    def right_answers(self) -> list[tuple[str, ...]]:
        """For each component at fault the names that are right, the best one first."""
        if self.ans is not None:
            return [(name,) for name in ([self.ans] if isinstance(self.ans, str) else self.ans)]
        first = [
            (truth.component, *truth.also_right, *own)
            for truth, own in zip(self.truths, self._nodes_at_fault(), strict=True)
        ]
        others = [(name,) for truth in self.truths for name in truth.also_at_fault]
        return list(dict.fromkeys([*first, *others]))

    def _nodes_at_fault(self) -> list[tuple[str, ...]]:
        """Of each fault; where it is not staged yet, nobody knows them."""
        staged = hasattr(self, "environment")
        return [fault.machines_at_fault(self.environment) if staged else () for fault in self.faults]

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        right = self.right_answers()
        named: Sequence[str] = soln if soln is not None else ()
        contains = soln is not None and _found(right, named) == len(right)
        exact = contains and all(any(name in names for names in right) for name in named)
        partly = 100.0 / len(named) if contains and named and right else 0.0
        self.results |= {
            "Localization Accuracy": 100.0 if exact else partly,
            "success": exact,
            "is_subset": contains,
            "accuracy@1": _accuracy_at(1, right, named, exact),
            "accuracy@3": _accuracy_at(3, right, named, exact),
            "TTL": duration,
            "expected": self.expected(),
        }
        return dict(self.results)


def _found(right: Sequence[tuple[str, ...]], named: Sequence[str]) -> int:
    """How many of the components at fault are named."""
    return sum(any(name in names for name in named) for names in right)


def _accuracy_at(k: int, right: Sequence[tuple[str, ...]], named: Sequence[str], exact: bool) -> float:
    """The share, in percent, of the components at fault that the first ``k`` names could and do tell."""
    if not right:
        return 100.0 if exact else 0.0
    return 100.0 * min(_found(right, named[:k]) / min(k, len(right)), 1.0)

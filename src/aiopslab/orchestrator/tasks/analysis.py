"""The root cause analysis task: why is it wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from aiopslab.orchestrator.tasks.base import Task
from aiopslab.utils import InvalidSubmissionError

LABELS: Final[dict[str, tuple[str, ...]]] = {
    "system_level": ("Hardware", "Operating System", "Virtualization", "Application"),
    "fault_type": (
        "Misconfiguration",
        "Code Defect",
        "Authentication Issue",
        "Network/Storage Issue",
        "Operation Error",
        "Dependency Problem",
    ),
}


def _quote_labels(labels: Sequence[str]) -> str:
    return ", ".join(f'"{label}"' for label in labels)


class AnalysisTask(Task):
    """The agent submits the system level and the fault type of the root cause."""

    task_type: ClassVar[str] = "analysis"
    goal: ClassVar[str] = (
        "something is wrong with the application; find its root cause. Submit its system level, one of "
        f"{_quote_labels(LABELS['system_level'])}, and its fault type, one of {_quote_labels(LABELS['fault_type'])}."
    )
    example: ClassVar[str] = 'submit({"system_level": "Hardware", "fault_type": "Code Defect"})'

    def submit(self, analysis: dict[str, str]) -> dict[str, str]:
        """Submit the answer. This ends the session.

        Args:
            analysis (dict[str, str]): two labels. "system_level" is one of "Hardware", "Operating System", "Virtualization",
                "Application"; "fault_type" is one of "Misconfiguration", "Code Defect", "Authentication Issue",
                "Network/Storage Issue", "Operation Error", "Dependency Problem".

        Example:
            submit({"system_level": "Hardware", "fault_type": "Code Defect"})
        """
        if not isinstance(analysis, dict):
            raise InvalidSubmissionError(f"The answer must be a dictionary with two labels: {self.example}")
        return {key: _parse_label(key, analysis.get(key)) for key in LABELS}

    def get_expected(self) -> dict[str, str]:
        """Return the two labels, of the first fault if there are several."""
        return self.get_right_answers()[0]

    def get_right_answers(self) -> list[dict[str, str]]:
        """Return all right pairs of labels, the best first. With several faults, each of them is a root cause."""
        if self.ans is not None:
            return [self.submit(self.ans)]
        return [
            {"system_level": level, "fault_type": kind}
            for truth in self.truths
            for level in (truth.system_level, *truth.also_levels)
            for kind in (truth.fault_type, *truth.also_fault_types)
        ]

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        if self.find_expected() is None:
            return self.fill_results({"TTA": duration})
        given: dict[str, str] = soln if soln is not None else {}
        compared = [
            {key: given.get(key) == label for key, label in right.items()}
            for right in self.get_right_answers()
        ]
        nearest = max(compared, key=lambda correct: sum(correct.values()))
        computed = {
            "system_level_correct": nearest["system_level"],
            "fault_type_correct": nearest["fault_type"],
            "success": all(nearest.values()),
            "TTA": duration,
            "expected": self.get_expected(),
        }
        return self.fill_results(computed)


def _parse_label(key: str, given: object) -> str:
    """Return the label, whatever its case and the spaces around it; raises ``InvalidSubmissionError``."""
    wanted = given.strip().lower() if isinstance(given, str) else None
    for label in LABELS[key]:
        if label.lower() == wanted:
            return label
    raise InvalidSubmissionError(f'"{key}" must be one of {_quote_labels(LABELS[key])}.')

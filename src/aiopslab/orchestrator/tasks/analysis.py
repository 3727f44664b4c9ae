"""Why is it wrong?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from aiopslab.orchestrator.tasks.base import Task
from aiopslab.utils.status import InvalidSubmissionError

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


def _listed(labels: Sequence[str]) -> str:
    return ", ".join(f'"{label}"' for label in labels)


class AnalysisTask(Task):
    """The agent says at which level of the system the cause lies, and of what type it is."""

    task_type: ClassVar[str] = "analysis"
    goal: ClassVar[str] = (
        "something is wrong with the application; find its root cause. Submit the level of the system at which it lies, one "
        f"of {_listed(LABELS['system_level'])}, and its type, one of {_listed(LABELS['fault_type'])}."
    )
    example: ClassVar[str] = 'submit({"system_level": "Hardware", "fault_type": "Code Defect"})'

    def submit(self, analysis: dict[str, str]) -> dict[str, str]:
        """Submit the answer, which ends the session.

        Args:
            analysis (dict[str, str]): two labels. "system_level" is one of "Hardware", "Operating System", "Virtualization",
                "Application"; "fault_type" is one of "Misconfiguration", "Code Defect", "Authentication Issue",
                "Network/Storage Issue", "Operation Error", "Dependency Problem".

        Example:
            submit({"system_level": "Hardware", "fault_type": "Code Defect"})
        """
        if not isinstance(analysis, dict):
            raise InvalidSubmissionError(f"The answer must be a dictionary with two labels: {self.example}")
        return {key: _label(key, analysis.get(key)) for key in LABELS}

    def expected(self) -> dict[str, str]:
        """The two labels; those of the first fault, when there are several."""
        if self.ans is not None:
            return self.submit(self.ans)
        truth = self.truths[0]
        return {"system_level": truth.system_level, "fault_type": truth.fault_type}

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        expected = self.expected()
        given: dict[str, str] = soln if soln is not None else {}
        also = () if self.ans is not None else self.truths[0].also_fault_types
        level = given.get("system_level") == expected["system_level"]
        kind = given.get("fault_type") in (expected["fault_type"], *also)
        self.results |= {
            "system_level_correct": level,
            "fault_type_correct": kind,
            "success": level and kind,
            "TTA": duration,
            "expected": expected,
        }
        return dict(self.results)


def _label(key: str, given: object) -> str:
    """The label that is meant; upper and lower case and spaces around it do not matter."""
    wanted = given.strip().lower() if isinstance(given, str) else None
    for label in LABELS[key]:
        if label.lower() == wanted:
            return label
    raise InvalidSubmissionError(f'"{key}" must be one of {_listed(LABELS[key])}.')

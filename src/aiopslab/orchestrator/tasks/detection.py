"""Is something wrong?"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from aiopslab.orchestrator.tasks.base import Task
from aiopslab.utils.status import InvalidSubmissionError

YES, NO = "Yes", "No"
WORDS: Final = {"yes": YES, "true": YES, "no": NO, "false": NO}


class DetectionTask(Task):
    """The agent says whether anything is wrong with the application."""

    task_type: ClassVar[str] = "detection"
    goal: ClassVar[str] = (
        "find out whether something is wrong with the application at present. It may well be that all is well. "
        'Submit "Yes" if something is wrong and "No" if nothing is.'
    )
    example: ClassVar[str] = 'submit("Yes")'

    def submit(self, has_anomaly: str) -> str:
        """Submit the answer, which ends the session.

        Args:
            has_anomaly (str): "Yes" if something is wrong, "No" if nothing is.

        Example:
            submit("Yes")
        """
        given = str(has_anomaly) if isinstance(has_anomaly, (str, bool)) else ""
        said = WORDS.get(given.strip().strip(".!").lower())
        if said is None:
            raise InvalidSubmissionError('The answer must be "Yes" or "No": submit("Yes") or submit("No").')
        return said

    def expected(self) -> str:
        """Whether something is wrong."""
        if self.ans is not None:
            return self.submit(self.ans)
        return YES if self.breaks else NO

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        expected = self.expected()
        told = "Invalid Format" if soln is None else "Correct" if soln == expected else "Incorrect"
        self.results |= {
            "Detection Accuracy": told,
            "TTD": duration,
            "success": told == "Correct",
            "expected": expected,
        }
        return dict(self.results)

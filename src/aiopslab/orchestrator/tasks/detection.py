"""The detection task: is something wrong?"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from aiopslab.orchestrator.tasks.base import Task
from aiopslab.utils import InvalidSubmissionError

YES, NO = "Yes", "No"
ACCURACY: Final = "Detection Accuracy"
WORDS: Final = {"yes": YES, "true": YES, "no": NO, "false": NO}


class DetectionTask(Task):
    """The agent submits whether anything is wrong with the application."""

    task_type: ClassVar[str] = "detection"
    goal: ClassVar[str] = (
        "determine whether something is wrong with the application now. It may well be healthy. "
        'Submit "Yes" if something is wrong and "No" if not.'
    )
    example: ClassVar[str] = 'submit("Yes")'

    def submit(self, has_anomaly: str) -> str:
        """Submit the answer. This ends the session.

        Args:
            has_anomaly (str): "Yes" if something is wrong, "No" if not.

        Example:
            submit("Yes")
        """
        given = str(has_anomaly) if isinstance(has_anomaly, (str, bool)) else ""
        answer = WORDS.get(given.strip().strip(".!").lower())
        if answer is None:
            raise InvalidSubmissionError('The answer must be "Yes" or "No": submit("Yes") or submit("No").')
        return answer

    def get_expected(self) -> str:
        """Return "Yes" if something is wrong, "No" if not."""
        if self.ans is not None:
            return self.submit(self.ans)
        return YES if self.breaks else NO

    def eval(self, soln: Any, trace: list[dict[str, str]], duration: float) -> dict[str, Any]:
        expected: str | None = self.get_expected()
        accuracy = "Invalid Format" if soln is None else "Correct" if soln == expected else "Incorrect"
        if self.is_set_by_author(ACCURACY):
            accuracy, expected = self.results[ACCURACY], None
        return self.fill_results(
            {ACCURACY: accuracy, "TTD": duration, "success": accuracy == "Correct", "expected": expected}
        )

"""``DetectionActions`` of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.orchestrator.actions.base import TaskActions
from aiopslab.utils import SubmissionStatus, action

__all__ = ["DetectionActions"]


class DetectionActions(TaskActions):
    """The actions of a detection task. In a session, ``submit`` is checked and kept; here it only says that it was accepted."""

    @staticmethod
    @action
    def submit(has_anomaly: str) -> SubmissionStatus:
        """
        Submits the answer.

        Args:
            has_anomaly (str): "Yes" if something is wrong, "No" if not.

        Returns:
            SubmissionStatus: That it was accepted.
        """
        return SubmissionStatus.VALID_SUBMISSION

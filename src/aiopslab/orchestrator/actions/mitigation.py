"""``MitigationActions`` of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.orchestrator.actions.base import TaskActions
from aiopslab.utils import SubmissionStatus, action

__all__ = ["MitigationActions"]


class MitigationActions(TaskActions):
    """The actions of a mitigation task. In a session, ``submit`` is checked and kept; here it only says that it was accepted."""

    @staticmethod
    @action
    def submit() -> SubmissionStatus:
        """
        Submits the answer.

        Returns:
            SubmissionStatus: That it was accepted.
        """
        return SubmissionStatus.VALID_SUBMISSION

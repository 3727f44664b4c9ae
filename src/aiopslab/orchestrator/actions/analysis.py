"""``AnalysisActions`` of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.orchestrator.actions.base import TaskActions
from aiopslab.utils import SubmissionStatus, action

__all__ = ["AnalysisActions"]


class AnalysisActions(TaskActions):
    """The actions of an analysis task. In a session, ``submit`` is checked and kept; here it only says that it was accepted."""

    @staticmethod
    @action
    def submit(analysis: dict[str, str]) -> SubmissionStatus:
        """
        Submits the answer.

        Args:
            analysis (dict[str, str]): the keys "system_level" and "fault_type".

        Returns:
            SubmissionStatus: That it was accepted.
        """
        return SubmissionStatus.VALID_SUBMISSION

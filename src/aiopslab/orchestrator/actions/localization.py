"""``LocalizationActions`` of the public AIOpsLab release."""

from __future__ import annotations

from aiopslab.orchestrator.actions.base import TaskActions
from aiopslab.utils import SubmissionStatus, action

__all__ = ["LocalizationActions"]


class LocalizationActions(TaskActions):
    """The actions of a localization task. In a session, ``submit`` is checked and kept; here it only says that it was accepted."""

    @staticmethod
    @action
    def submit(faulty_components: list[str]) -> SubmissionStatus:
        """
        Submits the answer.

        Args:
            faulty_components (list[str]): names of the faulty components.

        Returns:
            SubmissionStatus: That it was accepted.
        """
        return SubmissionStatus.VALID_SUBMISSION

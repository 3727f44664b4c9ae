"""``NoOpDetection`` of the public AIOpsLab release: a problem in which nothing is wrong."""

from __future__ import annotations

from typing import Literal

from aiopslab.orchestrator.problems import noop
from aiopslab.orchestrator.problems.missing import MissingProblem
from aiopslab.orchestrator.tasks import DetectionTask

__all__ = ["NoOpDetection"]


class NoOpDetection(DetectionTask):
    """The application is healthy."""

    def __init__(self, app_name: Literal["hotel", "social", "astronomy_shop"] = "hotel") -> None:
        if app_name == "astronomy_shop":
            MissingProblem()
        family = noop.SOCIAL if app_name == "social" else noop.HOTELS
        super().__init__(family.app())
        self.id = f"{family.name}-1"

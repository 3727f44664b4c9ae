"""The four tasks: is something wrong, where, why, and repair it. A problem is an instance of one of them."""

from aiopslab.orchestrator.tasks.analysis import AnalysisTask
from aiopslab.orchestrator.tasks.base import Task
from aiopslab.orchestrator.tasks.detection import DetectionTask
from aiopslab.orchestrator.tasks.localization import LocalizationTask
from aiopslab.orchestrator.tasks.mitigation import MitigationTask

TASKS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, AnalysisTask, MitigationTask)
WITHOUT_ANALYSIS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, MitigationTask)
"""For what the papers know by its symptoms only: they give no root cause."""

__all__ = [
    "TASKS",
    "WITHOUT_ANALYSIS",
    "AnalysisTask",
    "DetectionTask",
    "LocalizationTask",
    "MitigationTask",
    "Task",
]

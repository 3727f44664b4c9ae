"""The four tasks: is something wrong, where, why, and repair it. A problem is an instance of one of them."""

from aiopslab.orchestrator.tasks.analysis import AnalysisTask
from aiopslab.orchestrator.tasks.base import Task
from aiopslab.orchestrator.tasks.detection import DetectionTask
from aiopslab.orchestrator.tasks.localization import LocalizationTask
from aiopslab.orchestrator.tasks.mitigation import MitigationTask

TASKS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, AnalysisTask, MitigationTask)

__all__ = ["TASKS", "AnalysisTask", "DetectionTask", "LocalizationTask", "MitigationTask", "Task"]

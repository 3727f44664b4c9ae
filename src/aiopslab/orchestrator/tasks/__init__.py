"""The four tasks: detect whether something is wrong, localize it, analyse its cause, and mitigate it.

A problem is an instance of one of them.
"""

from aiopslab.orchestrator.tasks.analysis import LABELS as LABELS, AnalysisTask as AnalysisTask
from aiopslab.orchestrator.tasks.base import Metric as Metric, Task as Task
from aiopslab.orchestrator.tasks.detection import DetectionTask as DetectionTask
from aiopslab.orchestrator.tasks.localization import LocalizationTask as LocalizationTask
from aiopslab.orchestrator.tasks.mitigation import MitigationTask as MitigationTask

TASKS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, AnalysisTask, MitigationTask)
WITHOUT_ANALYSIS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, MitigationTask)
"""For symptomatic faults, to which the papers assign no root cause."""

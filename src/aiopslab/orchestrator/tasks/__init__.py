"""The tasks: detect whether something is wrong, localize it, analyse its cause, mitigate it, or all of that in one incident;
predict failures; bring down a cost; restore compliance.

A problem is an instance of one of them.
"""

from aiopslab.orchestrator.tasks.analysis import LABELS as LABELS, AnalysisTask as AnalysisTask
from aiopslab.orchestrator.tasks.base import Metric as Metric, Task as Task
from aiopslab.orchestrator.tasks.compliance import ComplianceTask as ComplianceTask
from aiopslab.orchestrator.tasks.cost import CostTask as CostTask
from aiopslab.orchestrator.tasks.detection import DetectionTask as DetectionTask
from aiopslab.orchestrator.tasks.incident import IncidentTask as IncidentTask
from aiopslab.orchestrator.tasks.localization import LocalizationTask as LocalizationTask
from aiopslab.orchestrator.tasks.mitigation import MitigationTask as MitigationTask
from aiopslab.orchestrator.tasks.prediction import PredictionTask as PredictionTask

TASKS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, AnalysisTask, MitigationTask, IncidentTask)
"""The tasks for a fault that users notice."""
WITHOUT_ANALYSIS: tuple[type[Task], ...] = (DetectionTask, LocalizationTask, MitigationTask, IncidentTask)
"""For symptomatic faults, to which the papers assign no root cause."""
ALL_TASKS: tuple[type[Task], ...] = (*TASKS, PredictionTask, CostTask, ComplianceTask)

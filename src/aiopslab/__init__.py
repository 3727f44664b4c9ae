"""AIOpsLab-in-a-box: a whole cloud in one Python process, for building and comparing agents that operate clouds.

The public names for writing problems and agents are exported here. Each is imported on first use, so that ``--help`` does not
import the whole cloud. Type checkers see them as ``Any``; import a name from its own module to get its type.
"""

from __future__ import annotations

from typing import Final

from aiopslab.utils.lazy import export_lazily

_EXPORTS: Final = {
    "aiopslab.generators.fault.base": ("Fault", "FaultInjector", "GroundTruth", "at_site", "fault"),
    "aiopslab.generators.fault.injectors": (
        "ApplicationFaultInjector",
        "SymptomFaultInjector",
        "VirtFaultInjector",
    ),
    "aiopslab.generators.workload.wrk": ("Wrk",),
    "aiopslab.orchestrator.actions": ("TaskActions", "action"),
    "aiopslab.orchestrator.evaluators.quantitative": ("is_exact_match", "is_subset"),
    "aiopslab.orchestrator": ("Orchestrator",),
    "aiopslab.orchestrator.problems": ("Family", "ProblemRegistry"),
    "aiopslab.orchestrator.tasks": ("AnalysisTask", "DetectionTask", "LocalizationTask", "MitigationTask"),
    "aiopslab.apps.hotelres": ("HotelReservation",),
    "aiopslab.apps.socialnet": ("SocialNetwork",),
}

__all__ = [name for names in _EXPORTS.values() for name in names]
__getattr__ = export_lazily(__name__, _EXPORTS)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))

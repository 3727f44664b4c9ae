"""AIOpsLab-in-a-box: a whole cloud in one Python process, for building and comparing agents that operate clouds.

The names that problems and agents are written with are here; each is loaded when it is first used, because a command line
that only prints its help must not wait for a cloud. To a type checker they are of any type, because every module is below
this one and would wait for all others; who wants the types imports a name from its home.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

_HOMES: Final = {
    "aiopslab.generators.fault.base": ("Fault", "FaultInjector", "GroundTruth", "at_site", "fault"),
    "aiopslab.generators.fault.injectors": (
        "ApplicationFaultInjector",
        "SymptomFaultInjector",
        "VirtFaultInjector",
    ),
    "aiopslab.generators.workload.wrk": ("Wrk",),
    "aiopslab.orchestrator.actions": ("TaskActions", "action"),
    "aiopslab.orchestrator.evaluators.quantitative": ("is_exact_match", "is_subset"),
    "aiopslab.orchestrator.orchestrator": ("Orchestrator",),
    "aiopslab.orchestrator.problems": ("Family", "ProblemRegistry"),
    "aiopslab.orchestrator.tasks": ("AnalysisTask", "DetectionTask", "LocalizationTask", "MitigationTask"),
    "aiopslab.apps.hotelres": ("HotelReservation",),
    "aiopslab.apps.socialnet": ("SocialNetwork",),
}
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'aiopslab' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOME_OF))

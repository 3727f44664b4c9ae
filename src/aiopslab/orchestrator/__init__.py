"""The orchestrator: prepares problems, runs sessions of agents on them, evaluates and records them.

This package exports what other packages need of it, besides its sub-packages ``actions``, ``evaluation``, ``evaluators``,
``models``, ``oracles``, ``problems``, ``tasks`` and ``validation``. Each name is loaded when it is first used, because the
command line lists problems and prints its help without loading a cloud.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from aiopslab.orchestrator.action_names import DEFAULT, SUBMIT
    from aiopslab.orchestrator.agent import (
        AgentFailed,
        AgentGone,
        AgentLink,
        AgentTimedOut,
        SubprocessAgent,
        Usage,
    )
    from aiopslab.orchestrator.episode import Pace
    from aiopslab.orchestrator.orchestrator import NotReady, Orchestrator
    from aiopslab.orchestrator.parser import ResponseParser
    from aiopslab.orchestrator.preparation import (
        PreparedProblem,
        ProgressCallback,
        Prompt,
        deploy,
        open_problem,
        stage,
    )
    from aiopslab.orchestrator.records import (
        RecordNotWritten,
        build_record,
        comparable,
        get_version,
        to_json,
        write_record,
    )
    from aiopslab.orchestrator.redaction import Redactor, find_secrets
    from aiopslab.orchestrator.session import WALL, Session, SessionItem, Step
    from aiopslab.orchestrator.stages import Stage, Stages, run_episode

_NAMES: Final = {
    "action_names": ("DEFAULT", "SUBMIT"),
    "agent": ("AgentFailed", "AgentGone", "AgentLink", "AgentTimedOut", "SubprocessAgent", "Usage"),
    "episode": ("Pace",),
    "orchestrator": ("NotReady", "Orchestrator"),
    "parser": ("ResponseParser",),
    "preparation": ("PreparedProblem", "ProgressCallback", "Prompt", "deploy", "open_problem", "stage"),
    "records": (
        "RecordNotWritten", "build_record", "comparable", "get_version", "to_json", "write_record",
    ),
    "redaction": ("Redactor", "find_secrets"),
    "session": ("WALL", "Session", "SessionItem", "Step"),
    "stages": ("Stage", "Stages", "run_episode"),
}  # fmt: skip
"""The exported names, by module."""
_MODULES: Final = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "DEFAULT",
    "SUBMIT",
    "WALL",
    "AgentFailed",
    "AgentGone",
    "AgentLink",
    "AgentTimedOut",
    "NotReady",
    "Orchestrator",
    "Pace",
    "PreparedProblem",
    "ProgressCallback",
    "Prompt",
    "RecordNotWritten",
    "Redactor",
    "ResponseParser",
    "Session",
    "SessionItem",
    "Stage",
    "Stages",
    "Step",
    "SubprocessAgent",
    "Usage",
    "build_record",
    "comparable",
    "deploy",
    "find_secrets",
    "get_version",
    "open_problem",
    "run_episode",
    "stage",
    "to_json",
    "write_record",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *_MODULES))

"""Problems and their judges.

``Orchestrator`` is here because scripts for the public release import it from here; it is loaded when it is first used, as
in ``aiopslab`` itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aiopslab.orchestrator.orchestrator import Orchestrator

__all__ = ["Orchestrator"]


def __getattr__(name: str) -> Any:
    if name != "Orchestrator":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from aiopslab.orchestrator.orchestrator import Orchestrator

    return Orchestrator

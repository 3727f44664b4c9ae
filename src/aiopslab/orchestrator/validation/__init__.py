"""Validation of problems: the incident is visible, its repair passes, shortcuts fail, and no text reveals the answer."""

from aiopslab.orchestrator.validation.repairs import (
    APPLY_ALL,
    FLUSH_FILTERS,
    LIST_NAMESPACES,
    LIST_WORKLOADS,
    ROLL_BACK_RELEASES,
    UNDO_ROLLOUTS,
)
from aiopslab.orchestrator.validation.validator import Validator

__all__ = [
    "APPLY_ALL",
    "FLUSH_FILTERS",
    "LIST_NAMESPACES",
    "LIST_WORKLOADS",
    "ROLL_BACK_RELEASES",
    "UNDO_ROLLOUTS",
    "Validator",
]

"""Problems: one small file per family, and the registry of all problems."""

from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.registry import TYPES, CannotLoad, ProblemRegistry, UnknownProblem

__all__ = ["TYPES", "CannotLoad", "Family", "ProblemRegistry", "UnknownProblem"]

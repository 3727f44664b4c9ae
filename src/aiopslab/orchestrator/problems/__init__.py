"""Problems: one small file per family, and the registry that finds them."""

from aiopslab.orchestrator.problems.family import Family
from aiopslab.orchestrator.problems.registry import CannotLoad, ProblemRegistry, UnknownProblem

__all__ = ["CannotLoad", "Family", "ProblemRegistry", "UnknownProblem"]

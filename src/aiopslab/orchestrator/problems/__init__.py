"""Problems: one small file per family, and the registry of all problems."""

from aiopslab.orchestrator.problems.family import Family as Family
from aiopslab.orchestrator.problems.registry import (
    TYPES as TYPES,
    CannotLoad as CannotLoad,
    ProblemRegistry as ProblemRegistry,
    UnknownProblem as UnknownProblem,
)

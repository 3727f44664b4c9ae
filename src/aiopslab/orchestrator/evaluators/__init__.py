"""Comparisons of answers for authors of problems, by the names of the papers and the public release."""

from aiopslab.orchestrator.evaluators.quantitative import (
    is_exact_match as is_exact_match,
    is_subset as is_subset,
)

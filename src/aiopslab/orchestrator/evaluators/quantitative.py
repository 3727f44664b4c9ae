"""Comparisons for an author's own ``eval``, as the papers' first listing calls them.

An answer may be one name or a list of names: where the one is compared with the other, a list of one means that one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

__all__ = [
    "is_exact_match",
    "is_exact_match_lower",
    "is_in_range",
    "is_subset",
    "is_superset",
    "num_steps_taken",
]


def is_exact_match(pred: Any, target: Any) -> bool:
    """Whether an answer is the right one."""
    return bool(_alone(pred, target) == _alone(target, pred))


def is_exact_match_lower(pred: str, target: str) -> bool:
    """Whether an answer is the right one, whatever its case and the blanks around it."""
    return pred.strip().lower() == target.strip().lower()


def is_in_range(pred: float, target: float, tolerance: float) -> bool:
    """Whether a number is no further than the tolerance from the right one."""
    return abs(pred - target) <= tolerance


def is_subset(pred: Collection[str] | str, target: Collection[str] | str) -> bool:
    """Whether all that the first names is in the second."""
    return _names(pred) <= _names(target)


def is_superset(pred: Collection[str] | str, target: Collection[str] | str) -> bool:
    """Whether the first names all that is in the second."""
    return _names(pred) >= _names(target)


def num_steps_taken(trace: Iterable[Mapping[str, str]]) -> int:
    """How often the agent has answered."""
    return sum(item["role"] == "assistant" for item in trace)


def _alone(value: Any, other: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(other, str) else value


def _names(named: Collection[str] | str) -> set[str]:
    return {named} if isinstance(named, str) else set(named)

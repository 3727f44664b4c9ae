"""Comparisons for an author's own ``eval``, as the papers' first listing calls them.

An answer may be a name or a list of names: compared with a name, a list with a single element counts as that element.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

BYTES_PER_TOKEN: Final = 4
"""A common rule of thumb for English text and commands."""

__all__ = [
    "in_tokens",
    "is_exact_match",
    "is_exact_match_lower",
    "is_in_range",
    "is_subset",
    "is_superset",
    "num_steps_taken",
    "out_tokens",
]


def is_exact_match(pred: Any, target: Any) -> bool:
    """Whether an answer is the right one."""
    return bool(_unwrap(pred, target) == _unwrap(target, pred))


def is_exact_match_lower(pred: str, target: str) -> bool:
    """Whether an answer is the right one, ignoring case and surrounding blanks."""
    return pred.strip().lower() == target.strip().lower()


def is_in_range(pred: float, target: float, tolerance: float) -> bool:
    """Whether a number differs from the right one by at most the tolerance."""
    return abs(pred - target) <= tolerance


def is_subset(pred: Collection[str] | str, target: Collection[str] | str) -> bool:
    """Whether the target contains all predicted names."""
    return _to_set(pred) <= _to_set(target)


def is_superset(pred: Collection[str] | str, target: Collection[str] | str) -> bool:
    """Whether the prediction contains all target names."""
    return _to_set(pred) >= _to_set(target)


def num_steps_taken(trace: Iterable[Mapping[str, str]]) -> int:
    """Return the number of the agent's answers."""
    return sum(item["role"] == "assistant" for item in trace)


def in_tokens(trace: Iterable[Mapping[str, str]]) -> int:
    """Return an estimate of the tokens that the agent was sent."""
    return estimate_tokens("".join(item["content"] for item in trace if item["role"] != "assistant"))


def out_tokens(trace: Iterable[Mapping[str, str]]) -> int:
    """Return an estimate of the tokens that the agent wrote."""
    return estimate_tokens("".join(item["content"] for item in trace if item["role"] == "assistant"))


def estimate_tokens(text: str) -> int:
    """Return an estimate of a text's number of tokens."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def _unwrap(value: Any, other: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(other, str) else value


def _to_set(names: Collection[str] | str) -> set[str]:
    return {names} if isinstance(names, str) else set(names)

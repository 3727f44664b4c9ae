"""What an operator of aggregation expressions is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from simcloud.datastores.mongodb.engine.paths import MISSING


class Operator(NamedTuple):
    """A function of values, and how many it takes (None: any number)."""

    function: Callable[..., Any]
    takes: tuple[int, ...] | None


def absent(value: Any) -> bool:
    """Whether it is null or nothing."""
    return value is None or value is MISSING

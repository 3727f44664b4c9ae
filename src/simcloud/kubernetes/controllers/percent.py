"""Numbers that may be given as a share: ``2`` or ``25%``."""

from __future__ import annotations

from typing import Any


def share(value: Any, total: int, round_up: bool) -> int:
    """How many of a total are meant; what is not given is none."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    parts = int(value.rstrip("%")) * total
    return -(-parts // 100) if round_up else parts // 100

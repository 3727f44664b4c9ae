"""The difference between two values as an error shows it: by the names of the server's own fields."""

from __future__ import annotations

import difflib
import json
from typing import Any

_CONTEXT_LINES = 3


def difference(old: Any, new: Any) -> str:
    """What changed, as a unified diff of both values written as indented JSON."""
    diff = difflib.unified_diff(_lines(old), _lines(new), n=_CONTEXT_LINES)
    # The two lines that name the files are left out.
    return "".join(list(diff)[2:])


def _lines(value: Any) -> list[str]:
    written = json.dumps(value, indent=1, ensure_ascii=False)
    return [f"{line}\n" for line in written.split("\n")]


def internal(value: Any) -> Any:
    """A value with its fields named as the server's own structures name them: with a capital."""
    if isinstance(value, dict):
        return {f"{key[:1].upper()}{key[1:]}": internal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [internal(item) for item in value]
    return value


def structure(value: dict[str, Any] | None, *fields: tuple[str, str, Any]) -> dict[str, Any] | None:
    """An object in full: each field by (its JSON name, the server's own name, what it is when absent)."""
    if value is None:
        return None
    return {name: value.get(key, absent) for key, name, absent in fields}

"""Read fields of documents as Go's driver does: a field that is missing or has another type is empty, never an error."""

from __future__ import annotations

from math import isfinite
from typing import Any


def get_text(document: dict[str, Any], name: str) -> str:
    """Return a string field; "" if it is not a string."""
    value = document.get(name)
    return value if isinstance(value, str) else ""


def get_number(document: dict[str, Any], name: str) -> float:
    """Return a numeric field; 0 if it is not a number."""
    value = document.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def get_whole(document: dict[str, Any], name: str) -> int:
    """Return an integer field; 0 if it is not a number."""
    value = get_number(document, name)
    return int(value) if isfinite(value) else 0


def atoi(text: str) -> int:
    """Parse an integer as Go's ``strconv.Atoi`` does if its error is ignored."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0

"""Fields of documents as Go's driver reads them: what is missing or of another type is empty, never an error."""

from __future__ import annotations

from math import isfinite
from typing import Any


def text(document: dict[str, Any], name: str) -> str:
    """A field that should be text; empty when it is not."""
    value = document.get(name)
    return value if isinstance(value, str) else ""


def number(document: dict[str, Any], name: str) -> float:
    """A field that should be a number; 0 when it is not."""
    value = document.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def whole(document: dict[str, Any], name: str) -> int:
    """A field that should be a whole number; 0 when it is none."""
    value = number(document, name)
    return int(value) if isfinite(value) else 0


def atoi(text: str) -> int:
    """A number that is text, as Go's ``strconv.Atoi`` reads it when its error is ignored."""
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0

"""Shared helpers of template functions: conversion of values, lists of other Go types, limits."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.golang import Int, is_int64, sprint
from simcloud.golang.template import CallError, absent

MOST: Final = 1_000_000
"""Characters or items that one call may make."""

MAP: Final = "map[string]interface {}"


class Strings(list[str]):
    """A list of texts, which Go tells from one of anything."""

    go_type = "[]string"


class Ints(list[Int]):
    """A list of whole numbers of Go's ``int``."""

    go_type = "[]int"


def check_size(size: int) -> int:
    """Return the size; raises ``CallError`` if it exceeds the limit."""
    if size > MOST:
        raise CallError(f"more than {MOST} characters or items")
    return size


def text_of(value: Any) -> str:
    """A value as sprig's ``toString`` makes text of it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return sprint(None if absent(value) else value)


def whole(value: Any) -> int:
    """A value as a whole number; 0 if it is none."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return _wrap(int(value)) if value == value and abs(value) != float("inf") else -(2**63)
    if isinstance(value, int):
        return _wrap(int(value))
    if isinstance(value, str):
        return _whole_of_text(value)
    return 0


def _whole_of_text(text: str) -> int:
    if re.fullmatch(r"[+-]?0[0-7]+", text):
        number = int(text, 8)
    elif re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|\d+)", text) and len(text) < 100:
        try:
            number = int(text, 0) if not text.lstrip("+-").isdigit() else int(text)
        except ValueError:
            return 0
        if text.lstrip("+-").startswith("0") and text.lstrip("+-").isdigit() and int(text) != 0:
            return 0
    else:
        return 0
    return number if is_int64(number) else 0


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def real(value: Any) -> float:
    """A value as a float; 0 if it is none."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value) if "_" not in value and value == value.strip() else 0.0
        except ValueError:
            return 0.0
    return 0.0


def empty(value: Any) -> bool:
    """Whether sprig takes a value for none: nothing, zero, nothing in it."""
    if absent(value):
        return True
    if isinstance(value, (str, list, dict, bytes, bool, int, float)):
        return not value
    return False

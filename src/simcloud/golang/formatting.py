"""Formats values as Go's ``fmt`` does: ``%v``, ``%#v`` and the names of types."""

from __future__ import annotations

from typing import Any

from simcloud.golang.numbers import float_text, is_int64, whole_text
from simcloud.golang.quoting import quote


class Int(int):
    """A whole number of a template, whose type is ``int``, while that of an object is ``int64``."""


def sprint(value: Any) -> str:
    """A value as ``%v`` prints it: ``map[a:1 b:[x y]]``."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return whole_text(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{sprint(value[key])}" for key in sorted(value)) + "]"
    if hasattr(value, "go_text"):
        return str(value.go_text())
    return "[" + " ".join(map(sprint, value)) + "]"


def syntax(value: Any) -> str:
    """A value as ``%#v`` prints it: ``map[string]interface {}{"a":1}``."""
    return "<nil>" if value is None else _syntax(value)


def _syntax(value: Any) -> str:
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{quote(key)}:{_syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inside}}}"
    if isinstance(value, (list, tuple)):
        return f"[]interface {{}}{{{', '.join(map(_syntax, value))}}}"
    return sprint(value)


def type_name(value: Any) -> str:
    """The name of a value's type: ``map[string]interface {}``, ``string``, ``int64``."""
    if isinstance(value, str):
        return "string"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Int):
        return "int"
    if isinstance(value, int):
        return "int64" if is_int64(value) else "float64"
    if isinstance(value, float):
        return "float64"
    named: str = getattr(value, "go_type", "")
    if named:
        return named
    return "map[string]interface {}" if isinstance(value, dict) else "[]interface {}"

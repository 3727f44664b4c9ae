"""Functions that test the kind of a value or select one."""

from __future__ import annotations

from typing import Any

from simcloud.golang import type_name
from simcloud.golang.template import Function, GoObject, absent
from simcloud.helm.functions.values import empty


def kind_of(value: Any) -> str:
    """Go's kind of a value: ``map``, ``slice``, ``string`` …"""
    if absent(value):
        return "invalid"
    if isinstance(value, dict):
        return "map"
    if isinstance(value, (list, bytes)):
        return "slice"
    if isinstance(value, GoObject):
        named = type_name(value)
        return "ptr" if named.startswith("*") else "slice" if named.endswith("VersionSet") else "struct"
    return type_name(value)


def _type_of(value: Any) -> str:
    return "<nil>" if absent(value) else type_name(value)


def _default(standard: Any, *given: Any) -> Any:
    return standard if not given or empty(given[0]) else given[0]


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if not empty(value)), None)


def _ternary(one: Any, other: Any, condition: bool) -> Any:
    return one if condition else other


KINDS: dict[str, Function] = {
    "kindOf": Function(kind_of, 1, 1),
    "kindIs": Function(lambda kind, value: kind == kind_of(value), 2, 2, ("string", "")),
    "typeOf": Function(_type_of, 1, 1),
    "typeIs": Function(lambda name, value: name == _type_of(value), 2, 2, ("string", "")),
    "typeIsLike": Function(lambda name, value: _type_of(value) in (name, f"*{name}"), 2, 2, ("string", "")),
    "deepEqual": Function(lambda one, other: bool(one == other), 2, 2),
    "default": Function(_default, 1),
    "empty": Function(empty, 1, 1),
    "coalesce": Function(_coalesce, 0),
    "ternary": Function(_ternary, 3, 3, ("", "", "bool")),
    "all": Function(lambda *values: not any(map(empty, values)), 0),
    "any": Function(lambda *values: not all(map(empty, values)), 0),
}

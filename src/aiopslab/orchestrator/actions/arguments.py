"""Converts arguments of calls to the declared types where that is unambiguous: "5" becomes a number.

Supported are JSON's types, their unions and ``Literal``; arguments of other types are passed unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

SHOWN: Final = 60
_NAMES: Final = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
}
_JSON: Final = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
_TRUTH: Final = {"true": True, "yes": True, "false": False, "no": False}


class NotOfType(Exception):
    """A value cannot be converted to the wanted type."""

    def __init__(self, wanted: str, value: Any) -> None:
        self.wanted = wanted
        self.got = quote(value)
        super().__init__(f"needs {wanted}, not {self.got}")


def quote(value: Any) -> str:
    """Return a value for a message, cut if it is long."""
    shown = repr(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def convert(value: Any, wanted: Any) -> Any:
    """Return a value as the wanted type; raises ``NotOfType`` where the conversion is ambiguous."""
    if wanted in _CONVERTERS:
        return _CONVERTERS[wanted](value)
    origin = get_origin(wanted) or wanted
    if origin in (Union, UnionType):
        return _convert_union(value, wanted)
    if origin is Literal:
        return _convert_literal(value, get_args(wanted))
    if origin in (list, tuple, Sequence):
        return _convert_list(value, wanted)
    if origin in (dict, Mapping) and not isinstance(value, dict):
        raise NotOfType("a dictionary", value)
    return value


def _convert_text(value: Any) -> str:
    if isinstance(value, str):
        return value.encode(
            "utf-8", "replace"
        ).decode()  # replaces lone surrogates, which no file or query can hold
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise NotOfType(_NAMES[str], value)


def _convert_int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = _convert_number(value, int)
    if number != int(number):
        raise NotOfType(_NAMES[int], value)
    return int(number)


def _convert_number(value: Any, wanted: type = float) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise NotOfType(_NAMES[wanted], value)


def _convert_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUTH:
        return _TRUTH[value.lower()]
    raise NotOfType(_NAMES[bool], value)


def _convert_none(value: Any) -> None:
    if value is not None:
        raise NotOfType(_NAMES[NoneType], value)


_CONVERTERS: Final[dict[Any, Any]] = {
    str: _convert_text,
    int: _convert_int,
    float: _convert_number,
    bool: _convert_bool,
    NoneType: _convert_none,
}


def _convert_union(value: Any, union: Any) -> Any:
    choices = get_args(union)
    if type(value) in choices:
        return value
    for choice in choices:
        try:
            return convert(value, choice)
        except NotOfType:
            continue
    raise NotOfType(_describe_type(union), value)


def _convert_literal(value: Any, choices: tuple[Any, ...]) -> Any:
    for choice in choices:
        if value == choice or (isinstance(value, str) and value.lower() == str(choice).lower()):
            return choice
    raise NotOfType(f"one of {', '.join(map(repr, choices))}", value)


def _convert_list(value: Any, wanted: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise NotOfType("a list", value)
    inner = (*get_args(wanted), Any)[0]
    return [convert(item, inner) for item in value]


def _describe_type(wanted: Any) -> str:
    if get_origin(wanted) in (Union, UnionType):
        return " or ".join(_describe_type(choice) for choice in get_args(wanted))
    return _NAMES.get(wanted, "a list" if (get_origin(wanted) or wanted) is list else "a dictionary")


def format_type(wanted: Any) -> str:
    """Return a type as written in a signature."""
    if wanted is Any:
        return "Any"
    if get_origin(wanted) in (Union, UnionType):
        return " | ".join(format_type(choice) for choice in get_args(wanted))
    if get_origin(wanted) is Literal:
        return " | ".join(map(repr, get_args(wanted)))
    if wanted is NoneType:
        return "None"
    if isinstance(wanted, type) and not get_args(wanted):
        return wanted.__name__
    return str(wanted).replace("typing.", "").replace("collections.abc.", "")


def build_schema(wanted: Any) -> dict[str, Any]:
    """Return a type's JSON schema; empty for any type."""
    if wanted in _JSON:
        return {"type": _JSON[wanted]}
    origin = get_origin(wanted) or wanted
    if origin in (Union, UnionType):
        return {"anyOf": [build_schema(choice) for choice in get_args(wanted)]}
    if origin is Literal:
        return {"enum": list(get_args(wanted))}
    if origin in (list, tuple, Sequence):
        inner = build_schema((*get_args(wanted), Any)[0])
        return {"type": "array"} | ({"items": inner} if inner else {})
    return {"type": "object"} if origin in (dict, Mapping) else {}

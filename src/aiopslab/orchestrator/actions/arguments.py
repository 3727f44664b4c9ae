"""Arguments of calls, brought to the types that functions ask for where no meaning is lost: "5" is a number, too.

The types are those that JSON has, unions and ``Literal`` of them; what is of another type is taken as it comes.
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
    """A value that cannot be what is wanted."""

    def __init__(self, wanted: str, value: Any) -> None:
        self.wanted = wanted
        self.got = quoted(value)
        super().__init__(f"needs {wanted}, not {self.got}")


def quoted(value: Any) -> str:
    """A value as it was given, in a sentence; not all of it when it is long."""
    shown = repr(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"


def read_value(value: Any, wanted: Any) -> Any:
    """A value as the type that is wanted; ``NotOfType`` where that would be a guess."""
    if wanted in _READERS:
        return _READERS[wanted](value)
    origin = get_origin(wanted) or wanted
    if origin in (Union, UnionType):
        return _one_of(value, wanted)
    if origin is Literal:
        return _literal(value, get_args(wanted))
    if origin in (list, tuple, Sequence):
        return _list(value, wanted)
    if origin in (dict, Mapping) and not isinstance(value, dict):
        raise NotOfType("a dictionary", value)
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a character has no place in any file or query
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise NotOfType(_NAMES[str], value)


def _whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    number = _number(value, int)
    if number != int(number):
        raise NotOfType(_NAMES[int], value)
    return int(number)


def _number(value: Any, wanted: type = float) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise NotOfType(_NAMES[wanted], value)


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUTH:
        return _TRUTH[value.lower()]
    raise NotOfType(_NAMES[bool], value)


def _nothing(value: Any) -> None:
    if value is not None:
        raise NotOfType(_NAMES[NoneType], value)


_READERS: Final[dict[Any, Any]] = {str: _text, int: _whole, float: _number, bool: _truth, NoneType: _nothing}


def _one_of(value: Any, union: Any) -> Any:
    choices = get_args(union)
    if type(value) in choices:
        return value
    for choice in choices:
        try:
            return read_value(value, choice)
        except NotOfType:
            continue
    raise NotOfType(_described(union), value)


def _literal(value: Any, choices: tuple[Any, ...]) -> Any:
    for choice in choices:
        if value == choice or (isinstance(value, str) and value.lower() == str(choice).lower()):
            return choice
    raise NotOfType(f"one of {', '.join(map(repr, choices))}", value)


def _list(value: Any, wanted: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise NotOfType("a list", value)
    inner = (*get_args(wanted), Any)[0]
    return [read_value(one, inner) for one in value]


def _described(wanted: Any) -> str:
    if get_origin(wanted) in (Union, UnionType):
        return " or ".join(_described(one) for one in get_args(wanted))
    return _NAMES.get(wanted, "a list" if (get_origin(wanted) or wanted) is list else "a dictionary")


def type_name(wanted: Any) -> str:
    """A type as a signature has it."""
    if wanted is Any:
        return "Any"
    if get_origin(wanted) in (Union, UnionType):
        return " | ".join(type_name(one) for one in get_args(wanted))
    if get_origin(wanted) is Literal:
        return " | ".join(map(repr, get_args(wanted)))
    if wanted is NoneType:
        return "None"
    if isinstance(wanted, type) and not get_args(wanted):
        return wanted.__name__
    return str(wanted).replace("typing.", "").replace("collections.abc.", "")


def schema_of(wanted: Any) -> dict[str, Any]:
    """A type as JSON schema has it; empty for any."""
    if wanted in _JSON:
        return {"type": _JSON[wanted]}
    origin = get_origin(wanted) or wanted
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(one) for one in get_args(wanted)]}
    if origin is Literal:
        return {"enum": list(get_args(wanted))}
    if origin in (list, tuple, Sequence):
        inner = schema_of((*get_args(wanted), Any)[0])
        return {"type": "array"} | ({"items": inner} if inner else {})
    return {"type": "object"} if origin in (dict, Mapping) else {}

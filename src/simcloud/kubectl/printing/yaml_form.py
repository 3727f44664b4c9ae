"""``-o yaml`` as kubectl's library writes it.

A special writer, because it is several times faster than a general one, and the rules for quotes and line breaks
differ.
"""

from __future__ import annotations

from functools import cmp_to_key, lru_cache
from typing import Any

from simcloud.golang import float_text, is_int64, json_float
from simcloud.kubectl.errors import PrintError
from simcloud.kubectl.printing.yaml_scalars import ControlCharacter, key, scalar
from simcloud.kubernetes.api import Object

_LARGEST = 2**64
_REMEMBERED = 200
"""Strings up to this length are kept as they were written."""


def as_yaml(obj: Object) -> str:
    """An object or List as ``-o yaml`` prints it. PrintError if it has characters that YAML cannot hold."""
    lines: list[str] = []
    try:
        _map(obj, 0, "", lines)
    except ControlCharacter:
        raise PrintError("yaml: control characters are not allowed") from None
    return "\n".join(lines) + "\n"


def any_yaml(value: Any) -> str:
    """Any value as a document of its own. PrintError if it has characters that YAML cannot hold."""
    if isinstance(value, dict) and value:
        return as_yaml(value)
    lines: list[str] = []
    try:
        if isinstance(value, list) and value:
            _list(value, 0, "", lines)
        else:
            lines.append(scalar(value, 0, 2) if isinstance(value, str) else simple(value))
    except ControlCharacter:
        raise PrintError("yaml: control characters are not allowed") from None
    return "\n".join(lines) + "\n"


def _map(value: dict[str, Any], indent: int, lead: str, lines: list[str]) -> None:
    """The lines of a map; ``lead`` is what stands before its first key, in place of the indent."""
    if not value:
        lines.append(lead + "{}")
        return
    lead = lead or " " * indent
    for name in order_keys(tuple(value)):
        held = value[name]
        if type(held) is str and len(held) < _REMEMBERED:
            lines.append(_text_entry(lead, name, held, indent))
            lead = " " * indent
            continue
        short = key(name)
        if short is None:
            lines.append(f"{lead}? {scalar(name, len(lead) + 2, indent + 2)}")
            lead, short = " " * indent, ""
        _entry(f"{lead}{short}:", held, indent, lines)
        lead = " " * indent


@lru_cache(maxsize=32768)
def _text_entry(lead: str, name: str, text: str, indent: int) -> str:
    """A key with a string: objects of one kind are much the same, so that most have been written before."""
    lines: list[str] = []
    short = key(name)
    if short is None:
        lines.append(f"{lead}? {scalar(name, len(lead) + 2, indent + 2)}")
        lead, short = " " * indent, ""
    _entry(f"{lead}{short}:", text, indent, lines)
    return "\n".join(lines)


def _entry(start: str, value: Any, indent: int, lines: list[str]) -> None:
    if type(value) is str:
        lines.append(f"{start} {scalar(value, len(start) + 1, indent + 2)}")
    elif isinstance(value, dict) and value:
        lines.append(start)
        _map(value, indent + 2, "", lines)
    elif isinstance(value, list) and value:
        lines.append(start)
        _list(value, indent, "", lines)
    else:
        lines.append(f"{start} {simple(value)}")


def _list(value: list[Any], indent: int, lead: str, lines: list[str]) -> None:
    lead = lead or " " * indent
    for item in value:
        start = f"{lead}- "
        if type(item) is str:
            lines.append(start + scalar(item, len(start), indent + 2))
        elif isinstance(item, dict) and item:
            _map(item, indent + 2, start, lines)
        elif isinstance(item, list) and item:
            _list(item, indent + 2, start, lines)
        else:
            lines.append(start + simple(item))
        lead = " " * indent


def simple(value: Any) -> str:
    """What is neither text nor holds anything: a number, a truth, null, an empty map or list."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if is_int64(value) else number_text(float(value))
    if isinstance(value, float):
        return number_text(value)
    return "{}" if isinstance(value, dict) else "[]"


def number_text(value: float) -> str:
    """A float: it has been JSON before, where a whole one looks like a whole number."""
    text = json_float(value)
    whole = text.lstrip("-").isdigit() and -(2**63) <= int(text) < _LARGEST
    return text if whole else float_text(value)


@lru_cache(maxsize=4096)
def order_keys(names: tuple[str, ...]) -> tuple[str, ...]:
    """Sort the keys of a map as the library does: letters after other characters, numbers by value."""
    return tuple(sorted(names, key=cmp_to_key(_compare)))


def _compare(one: str, other: str) -> int:
    if one == other:
        return 0
    return -1 if _less(one, other) else 1


def _less(one: str, other: str) -> bool:
    for place, (mine, yours) in enumerate(zip(one, other, strict=False)):
        if mine == yours:
            continue
        letters = mine.isalpha(), yours.isalpha()
        if all(letters):
            return mine < yours
        if any(letters):
            return letters[1]
        return _less_number(one, other, place)
    return len(one) < len(other)


def _less_number(one: str, other: str, place: int) -> bool:
    start = 0
    if "0" in (one[place], other[place]):
        before = place - 1
        while before >= 0 and one[before].isdecimal():
            if one[before] != "0":
                start = 1
                break
            before -= 1
    left, left_end = _number(one, place, start)
    right, right_end = _number(other, place, start)
    if left != right:
        return left < right
    return left_end < right_end if left_end != right_end else one[place] < other[place]


def _number(text: str, place: int, number: int) -> tuple[int, int]:
    while place < len(text) and text[place].isdecimal():
        number = number * 10 + ord(text[place]) - ord("0")
        place += 1
    return number, place

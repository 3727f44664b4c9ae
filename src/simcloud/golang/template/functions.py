"""The functions of a template: Go's own and the two that kubectl adds."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import quote_plus

from msgspec import Struct

from simcloud.golang.formatting import Int, sprint, type_name
from simcloud.golang.printf import print_text, printf, println_text

MISSING: Any = type(
    "Missing",
    (),
    {
        "__repr__": lambda self: "<no value>",
        "__slots__": (),
        "go_text": lambda self: "<nil>",
        "go_type": "<nil>",
    },
)()
"""No value at all: what a key that is not there gives."""


class CallError(Exception):
    """A function rejects its arguments."""


class Function(Struct, frozen=True):
    """A function and the arguments it takes."""

    call: Callable[..., Any]
    least: int
    most: int | None = None
    """None: no upper limit."""
    wants: tuple[str, ...] = ()
    """The types of its arguments, empty for any; the last applies to all further arguments."""

    def argument_type(self, place: int) -> str:
        """Return the type of an argument; empty for any."""
        return self.wants[min(place, len(self.wants) - 1)] if self.wants else ""


def absent(value: Any) -> bool:
    """Whether there is no value."""
    return value is None or value is MISSING


def truth(value: Any) -> bool:
    """Whether a value counts as true."""
    return False if absent(value) else bool(value)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (dict, list)):
        return "other"
    kinds = {"int64": "int", "int": "int", "float64": "float", "string": "string"}
    return kinds.get(type_name(value), "other")


def _index(item: Any, *indexes: Any) -> Any:
    if absent(item):
        raise CallError("index of untyped nil")
    for place in indexes:
        if absent(item):
            raise CallError("index of nil pointer")
        if isinstance(item, dict):
            if absent(place):
                raise CallError("value is nil; should be of type string")
            if not isinstance(place, str):
                raise CallError(f"value has type {type_name(place)}; should be string")
            item = item.get(place)
        elif isinstance(item, (list, str)):
            held = item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item
            item = held[_place(place, len(held))]
        else:
            raise CallError(f"can't index item of type {type_name(item)}")
    return item


def _place(place: Any, length: int, *, last: bool = False) -> int:
    if absent(place):
        raise CallError("cannot index slice/array with nil")
    if not isinstance(place, int) or isinstance(place, bool):
        raise CallError(f"cannot index slice/array with type {type_name(place)}")
    if place < 0 or place > length or (place == length and not last):
        raise CallError(f"index out of range: {place}")
    return place


def _slice(item: Any, *bounds: Any) -> Any:
    if absent(item):
        raise CallError("slice of untyped nil")
    if len(bounds) > 3:
        raise CallError(f"too many slice indexes: {len(bounds)}")
    if not isinstance(item, (str, list)):
        raise CallError(f"can't slice item of type {type_name(item)}")
    if isinstance(item, str) and len(bounds) == 3:
        raise CallError("cannot 3-index slice a string")
    held: Any = item.encode("utf-8", "surrogateescape") if isinstance(item, str) else item
    places = [_place(bound, len(held), last=True) for bound in bounds]
    start, stop = (places + [0, len(held)][len(places) :])[:2]
    if start > stop:
        raise CallError(f"invalid slice index: {start} > {stop}")
    cut = held[start:stop]
    return cut.decode("utf-8", "surrogateescape") if isinstance(item, str) else cut


def _length(item: Any) -> Int:
    if absent(item):
        nothing = "reflect: call of reflect.Value.Type on zero Value"
        raise CallError(nothing if item is MISSING else "len of nil pointer")
    if isinstance(item, str):
        return Int(len(item.encode("utf-8", "surrogateescape")))
    if isinstance(item, (list, dict)):
        return Int(len(item))
    raise CallError(f"len of type {type_name(item)}")


def _equal(one: Any, *others: Any) -> bool:
    if isinstance(one, (dict, list)):
        raise CallError(f"non-comparable type {sprint(one)}: {type_name(one)}")
    if not others:
        raise CallError("missing argument for comparison")
    for other in others:
        if absent(one) or absent(other):
            if absent(one) and absent(other):
                return True
            continue
        if _kind(one) != _kind(other):
            raise CallError(_unlike(one, other))
        if one == other:
            return True
    return False


def _unlike(one: Any, other: Any) -> str:
    return f"incompatible types for comparison: {type_name(one)} and {type_name(other)}"


def _less(one: Any, other: Any) -> bool:
    if absent(one) or absent(other) or _kind(one) == "other" or _kind(other) == "other":
        raise CallError("invalid type for comparison")
    if _kind(one) != _kind(other):
        raise CallError(_unlike(one, other))
    if isinstance(one, bool):
        raise CallError("invalid type for comparison")
    return bool(one < other)


def _exists(item: Any, *indexes: Any) -> bool:
    for place in indexes:
        if isinstance(item, dict):
            item = item.get(place) if isinstance(place, str) else None
        elif isinstance(item, (list, str)) and isinstance(place, int) and 0 <= place < len(item):
            item = item[place]
        else:
            return False
    return not absent(item)


def _base64decode(text: str) -> str:
    packed = "".join(text.split("\n")).replace("\r", "")
    try:
        return base64.b64decode(packed, validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        raise CallError(
            f"base64 decode failed: illegal base64 data at input byte {bad_base64_byte(packed)}"
        ) from None


def bad_base64_byte(text: str) -> int:
    """Return the position of the first invalid base64 character."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for place, char in enumerate(text):
        if char not in alphabet:
            return place
    return len(text) // 4 * 4


def _one_text(values: tuple[Any, ...]) -> str:
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    return print_text([_replace_missing(value) for value in values])


def _replace_missing(value: Any) -> Any:
    return "<no value>" if value is MISSING else value


_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "\0": "\ufffd"})


def _js(text: str) -> str:
    plain = {"\\": "\\\\", "'": "\\'", '"': '\\"'}
    return "".join(plain.get(char) or _js_character(char) for char in text)


def _js_character(char: str) -> str:
    return f"\\u{ord(char):04X}" if char in "<>&=" or not char.isprintable() else char


FUNCTIONS: dict[str, Function] = {
    "and": Function(truth, 1),  # these two are run by the interpreter, which stops at the answer
    "or": Function(truth, 1),
    "not": Function(lambda value: not truth(value), 1, 1),
    "len": Function(_length, 1, 1),
    "index": Function(_index, 1),
    "slice": Function(_slice, 1),
    "print": Function(lambda *values: print_text([None if absent(v) else v for v in values]), 0),
    "println": Function(lambda *values: println_text([None if absent(v) else v for v in values]), 0),
    "printf": Function(
        lambda form, *values: printf(form, [None if absent(v) else v for v in values]),
        1,
        None,
        ("string", ""),
    ),
    "html": Function(lambda *values: _one_text(values).translate(_HTML), 0),
    "js": Function(lambda *values: _js(_one_text(values)), 0),
    "urlquery": Function(
        lambda *values: quote_plus(_one_text(values), safe="~", errors="surrogateescape"), 0
    ),
    "eq": Function(_equal, 1),
    "ne": Function(lambda one, other: not _equal(one, other), 2, 2),
    "lt": Function(_less, 2, 2),
    "le": Function(lambda one, other: _less(one, other) or _equal(one, other), 2, 2),
    "gt": Function(lambda one, other: not (_less(one, other) or _equal(one, other)), 2, 2),
    "ge": Function(lambda one, other: not _less(one, other), 2, 2),
    "exists": Function(_exists, 1),
    "base64decode": Function(_base64decode, 1, 1, ("string",)),
    "call": Function(lambda *_: None, 1),
}

CONSTANTS: dict[str, tuple[str, Any]] = {
    "string": ("string", str),
    "int": ("integer", int),
    "int64": ("integer", int),
    "float64": ("float", (int, float)),
    "bool": ("bool", bool),
}
"""The Python type of a constant for an argument of a Go type, and Go's name for it."""


class GoObject:
    """A value of a Go type of its own. A map type derives from ``dict`` as well."""

    go_type: ClassVar[str] = "struct {}"

    def go_fields(self) -> dict[str, Any]:
        """Its fields by name."""
        return {}

    def go_method(self, name: str) -> Function | None:
        """A method by its name; None if it has none such."""
        return None

    def go_text(self) -> str:
        """Format the value as ``%v`` does."""
        raise NotImplementedError

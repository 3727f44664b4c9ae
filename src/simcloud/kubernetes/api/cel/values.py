"""CEL's values in Python's types, their names, equality, order and arithmetic, and the errors of expressions.

int, float, str, bytes, bool, None, list and dict represent themselves; this module adds the types that Python lacks.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from msgspec import Struct


class CelError(Exception):
    """An expression that cannot be evaluated; the text is what cel-go says."""


class CelSyntaxError(CelError):
    """Text that is no expression."""


class CostExceeded(CelError):
    """An expression that takes too many steps."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


def no_such_overload() -> CelError:
    """An operator or function that does not exist for these types."""
    return CelError("no such overload")


MAX_INT = 2**63 - 1
MIN_INT = -(2**63)
MAX_UINT = 2**64 - 1


class Uint(int):
    """An unsigned integer."""


class TypeName(str):
    """A type as a value: what ``type(x)`` gives."""


class Quantity(Struct, frozen=True):
    """An amount as Kubernetes writes it."""

    value: Fraction
    text: str


class Asked:
    """A value from outside the language that answers methods of its own."""

    def answer(self, method: str, *arguments: Any) -> Any:
        """What a method gives. Raises ``TypeError`` for one that this value does not have."""
        raise TypeError

    def part(self, field: str) -> Any:
        """What a field holds."""
        raise CelError(f"no such key: {field}")


class Maybe(Struct, frozen=True):
    """A value that may be missing."""

    values: tuple[Any, ...] = ()


_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    type(None): "null_type",
    datetime: "google.protobuf.Timestamp",
    timedelta: "google.protobuf.Duration",
    TypeName: "type",
    Quantity: "kubernetes.Quantity",
    Maybe: "optional_type",
}


def type_name(value: Any) -> str:
    """The name of a value's type."""
    found = _NAMES.get(type(value))
    if found is None:
        found = next((name for kind, name in _NAMES.items() if isinstance(value, kind)), "dyn")
    return found


_NUMBERS = ("int", "uint", "double")


def is_number(value: Any) -> bool:
    """Whether a value is int, uint or double."""
    return type_name(value) in _NUMBERS


def equal(one: Any, other: Any) -> bool:
    """Equality: numbers by value, everything else only within its own type."""
    kind, other_kind = type_name(one), type_name(other)
    if kind in _NUMBERS and other_kind in _NUMBERS:
        return bool(one == other)
    if kind != other_kind:
        return False
    if kind == "list":
        return len(one) == len(other) and all(map(equal, one, other))
    if kind == "map":
        return len(one) == len(other) and all(key in other and equal(one[key], other[key]) for key in one)
    if kind == "kubernetes.Quantity":
        return bool(one.value == other.value)
    return bool(one == other)


_ORDERED = ("string", "bytes", "bool", "google.protobuf.Timestamp", "google.protobuf.Duration")
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compare(sign: str, one: Any, other: Any) -> bool:
    """Order of two values."""
    kind, other_kind = type_name(one), type_name(other)
    if not (kind in _NUMBERS and other_kind in _NUMBERS) and (kind != other_kind or kind not in _ORDERED):
        raise no_such_overload()
    return bool(_ORDER[sign](one, other))


def integer(value: int, kind: str = "int") -> int:
    """A number within the bounds of its type."""
    if kind == "uint":
        if not 0 <= value <= MAX_UINT:
            raise CelError("unsigned integer overflow")
        return Uint(value)
    if not MIN_INT <= value <= MAX_INT:
        raise CelError("integer overflow")
    return value


def add(one: Any, other: Any) -> Any:
    """``+`` of numbers, texts, lists, times and durations."""
    kind, other_kind = type_name(one), type_name(other)
    if kind == other_kind and kind in ("string", "bytes", "list", "double"):
        return one + other
    if kind == other_kind and kind in ("int", "uint"):
        return integer(int(one) + int(other), kind)
    kinds = {kind, other_kind}
    if "google.protobuf.Duration" in kinds and kinds <= {
        "google.protobuf.Duration",
        "google.protobuf.Timestamp",
    }:
        return _time(operator.add, one, other)
    raise no_such_overload()


def subtract(one: Any, other: Any) -> Any:
    """``-`` of numbers, times and durations."""
    kind, other_kind = type_name(one), type_name(other)
    if kind == other_kind == "double":
        return one - other
    if kind == other_kind and kind in ("int", "uint"):
        return integer(int(one) - int(other), kind)
    if kind.startswith("google.") and other_kind in (kind, "google.protobuf.Duration"):
        return _time(operator.sub, one, other)
    raise no_such_overload()


def _time(operation: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    try:
        return operation(one, other)
    except OverflowError:
        raise CelError("timestamp overflow") from None


def multiply(one: Any, other: Any) -> Any:
    """``*`` of numbers."""
    kind = type_name(one)
    if kind != type_name(other) or kind not in _NUMBERS:
        raise no_such_overload()
    return one * other if kind == "double" else integer(int(one) * int(other), kind)


def divide(one: Any, other: Any) -> Any:
    """``/`` of numbers; whole numbers lose what is behind the point."""
    kind = type_name(one)
    if kind != type_name(other) or kind not in _NUMBERS:
        raise no_such_overload()
    if kind == "double":
        return one / other if other else float("nan") if one != one or not one else float("inf") * one
    if not other:
        raise CelError("division by zero")
    quotient = abs(int(one)) // abs(int(other))
    return integer(quotient if (one < 0) == (other < 0) else -quotient, kind)


def remainder(one: Any, other: Any) -> Any:
    """``%`` of whole numbers; the sign is the first one's."""
    kind = type_name(one)
    if kind != type_name(other) or kind not in ("int", "uint"):
        raise no_such_overload()
    if not other:
        raise CelError("modulus by zero")
    rest = abs(int(one)) % abs(int(other))
    return integer(-rest if one < 0 else rest, kind)


def negate(value: Any) -> Any:
    """``-`` before a number."""
    kind = type_name(value)
    if kind not in ("int", "double"):
        raise no_such_overload()
    return -value if kind == "double" else integer(-value)

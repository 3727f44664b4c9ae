"""MongoDB's total order over values of all types, and equality.

``sort_key`` converts a value to a tuple that Python orders as MongoDB orders the value. ``identity`` converts it to a
hashable that is equal exactly for equal values; it is the key in indexes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from simcloud.datastores.mongodb.bson import Binary, Int64, ObjectId, Regex

NUMBER: Final = 10
RANKS: Final[dict[type, int]] = {
    type(None): 5,
    int: NUMBER,
    Int64: NUMBER,
    float: NUMBER,
    str: 15,
    dict: 20,
    list: 25,
    Binary: 30,
    bytes: 30,
    ObjectId: 35,
    bool: 40,
    datetime: 45,
    Regex: 50,
}

PLAIN: Final = frozenset({str, int, Int64, ObjectId, datetime, type(None)})
"""Types whose values are their own identity: no two of different types are equal in Python."""


def rank(value: Any) -> int:
    """Return the place of a value's type among the types."""
    return RANKS[value.__class__]


def sort_key(value: Any) -> tuple[Any, ...]:
    """Return a tuple that sorts as the value does."""
    kind = value.__class__
    if kind is str or kind is ObjectId or kind is bool or kind is datetime:
        return (RANKS[kind], value)
    place = rank(value)
    if place == NUMBER:
        return (NUMBER, 0, 0) if value != value else (NUMBER, 1, value)
    if kind is dict:
        return (place, tuple((rank(each), name, sort_key(each)) for name, each in value.items()))
    if kind is list:
        return (place, tuple(sort_key(each) for each in value))
    if kind is Binary:
        return (place, len(value.data), value.subtype, value.data)
    if kind is bytes:
        return (place, len(value), 0, value)
    if kind is Regex:
        return (place, *value)
    return (place,)


def identity(value: Any) -> Any:
    """Something hashable that is equal for equal values only."""
    kind = value.__class__
    if kind in PLAIN:
        return value
    if kind is float:
        return value if value == value else (NUMBER, 0, 0)
    return sort_key(value)


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are the same to MongoDB: 1 is 1.0, and true is not 1."""
    return bool(identity(one) == identity(other))

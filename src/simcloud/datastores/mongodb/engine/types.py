"""``$type``: which values belong to the types a query names by word or number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.datastores.mongodb.bson import TYPE_NUMBERS, is_number, type_name
from simcloud.datastores.mongodb.failures import bad_value


def types_wanted(wanted: Any) -> Callable[[Any], bool]:
    """A function that says whether a value is of one of the types."""
    given = wanted if wanted.__class__ is list else [wanted]
    if not given:
        raise bad_value("$type must match at least one type")
    names = {name: None for each in given for name in _names(each)}
    return lambda value: type_name(value) in names


def _names(each: Any) -> list[str]:
    if each == "number":
        return ["int", "long", "double", "decimal"]
    if each.__class__ is str:
        if each not in TYPE_NUMBERS:
            raise bad_value(f"Unknown type name alias: {each}")
        return [each]
    if is_number(each):
        for name, number in TYPE_NUMBERS.items():
            if number == each:
                return [name]
        raise bad_value(f"Invalid numerical type code: {each}")
    raise bad_value("type must be represented as a number or a string")

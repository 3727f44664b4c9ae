"""Operators of aggregation expressions that turn values into others: dates, numbers, text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from simcloud.datastores.mongodb.bson import (
    EPOCH,
    Int64,
    ObjectId,
    is_number,
    milliseconds,
    type_name,
)
from simcloud.datastores.mongodb.engine.operator import Operator, absent
from simcloud.datastores.mongodb.failures import MongoFailure


def _of_date(part: Callable[[datetime], int]) -> Operator:
    def apply(value: Any) -> Any:
        if absent(value):
            return None
        moment = value.generated_at if value.__class__ is ObjectId else value
        if moment.__class__ is not datetime:
            raise MongoFailure(16006, f"can't convert from BSON type {type_name(value)} to Date")
        return part(moment)

    return Operator(apply, (1,))


def _date_to_string(options: Any) -> Any:
    moment: Any = options.get("date") if options.__class__ is dict else None
    if absent(moment):
        return None
    text = options.get("format", "%Y-%m-%dT%H:%M:%S.%LZ").replace("%L", f"{moment.microsecond // 1000:03d}")
    for letter in "YmdHMSjuVG":
        text = text.replace(f"%{letter}", moment.strftime(f"%{letter}"))
    return text


def to_string(value: Any) -> Any:
    """A value as text, the way $toString has it."""
    if absent(value) or value.__class__ is str:
        return None if absent(value) else value
    if value.__class__ is bool:
        return "true" if value else "false"
    if value.__class__ is datetime:
        return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z"
    if value.__class__ is float and value == int(value if value == value and abs(value) < 1e15 else 0):
        return str(int(value))
    if value.__class__ in (dict, list):
        raise MongoFailure(
            241, f"Unsupported conversion from {type_name(value)} to string in $convert with no onError value"
        )
    return str(int(value)) if isinstance(value, int) else str(value)


def _to_number(make: Callable[[Any], Any], name: str) -> Operator:
    def apply(value: Any) -> Any:
        if absent(value):
            return None
        if value.__class__ is datetime:
            return make(milliseconds(value))
        try:
            return make(value)
        except (ValueError, TypeError, ArithmeticError):
            raise MongoFailure(
                241, f"Failed to parse number '{value}' in $convert with no onError value"
            ) from None

    return Operator(apply, (1,))


def _to_date(value: Any) -> Any:
    if absent(value):
        return None
    if value.__class__ is ObjectId:
        return value.generated_at
    if value.__class__ is datetime:
        return value
    try:
        if is_number(value):
            return EPOCH + timedelta(milliseconds=int(value))
        return (
            datetime.fromisoformat(str(value)).astimezone(EPOCH.tzinfo)
            if "T" in str(value)
            else datetime.fromisoformat(f"{value}T00:00:00+00:00")
        )
    except (ValueError, OverflowError):
        raise MongoFailure(241, f"Error parsing date string '{value}'") from None


CONVERSIONS: Final[dict[str, Operator]] = {
    "$toString": Operator(to_string, (1,)),
    "$toInt": _to_number(int, "int"),
    "$toLong": _to_number(lambda value: Int64(int(value)), "long"),
    "$toDouble": _to_number(float, "double"),
    "$toDate": Operator(_to_date, (1,)),
    "$year": _of_date(lambda moment: moment.year),
    "$month": _of_date(lambda moment: moment.month),
    "$dayOfMonth": _of_date(lambda moment: moment.day),
    "$hour": _of_date(lambda moment: moment.hour),
    "$minute": _of_date(lambda moment: moment.minute),
    "$second": _of_date(lambda moment: moment.second),
    "$dateToString": Operator(_date_to_string, (1,)),
}

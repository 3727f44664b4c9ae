"""The functions of CEL by name, including those on lists, times, quantities and optional values.

A function that gets values of other types raises ``TypeError`` or the like; the caller turns that into
``no such overload``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.cel import values
from simcloud.kubernetes.api.cel.conversions import (
    as_list,
    as_text,
    as_whole,
    to_bool,
    to_bytes,
    to_double,
    to_duration,
    to_int,
    to_string,
    to_timestamp,
    to_uint,
)
from simcloud.kubernetes.api.cel.text_functions import (
    char_at,
    find,
    find_all,
    format_text,
    join,
    lower,
    matches,
    replace,
    split,
    substring,
    upper,
)
from simcloud.kubernetes.api.cel.values import CelError, Maybe, Quantity, TypeName, Uint, type_name


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise TypeError


def _index_of(where: Any, what: Any, start: int = 0) -> int:
    if isinstance(where, list):
        return next((index for index, item in enumerate(where) if values.equal(item, what)), -1)
    return as_text(where).find(as_text(what), as_whole(start))


def _last_index_of(where: Any, what: Any) -> int:
    if isinstance(where, list):
        return max((index for index, item in enumerate(where) if values.equal(item, what)), default=-1)
    return as_text(where).rfind(as_text(what))


def _is_sorted(items: Any) -> bool:
    return all(
        values.compare("<=", item, other) for item, other in zip(as_list(items), items[1:], strict=False)
    )


def _sum(items: Any) -> Any:
    total = None
    for item in as_list(items):
        total = item if total is None else values.add(total, item)
    return 0 if total is None else total


def _least(items: Any, sign: str) -> Any:
    if not as_list(items):
        raise CelError(f"{'min' if sign == '<' else 'max'} called on empty list")
    best = items[0]
    for item in items[1:]:
        best = item if values.compare(sign, item, best) else best
    return best


def _quantity(value: Any) -> Quantity:
    try:
        return Quantity(quantity.parse(as_text(value)), value)
    except ValueError:
        raise CelError(quantity.BAD_FORM) from None


def _is_quantity(value: Any) -> bool:
    try:
        quantity.parse(as_text(value))
    except ValueError:
        return False
    return True


def _amount(value: Any) -> Any:
    return value.value if isinstance(value, Quantity) else as_whole(value)


def _with_amount(one: Quantity, amount: Any) -> Quantity:
    return Quantity(amount, quantity.render(amount))


def _or_value(value: Maybe, otherwise: Any) -> Any:
    return value.values[0] if value.values else otherwise


def _value(value: Maybe) -> Any:
    if not value.values:
        raise CelError("optional.none() dereference")
    return value.values[0]


def _or(value: Maybe, otherwise: Any) -> Maybe:
    if not isinstance(otherwise, Maybe):
        raise TypeError
    return value if value.values else otherwise


def _part(
    read_time: Callable[[datetime], int], read_duration: Callable[[timedelta], int] | None = None
) -> Callable[..., int]:
    def read(value: Any, zone: str = "UTC") -> int:
        if isinstance(value, timedelta) and read_duration is not None:
            return read_duration(value)
        if not isinstance(value, datetime) or zone != "UTC":
            raise TypeError
        return read_time(value)

    return read


ASKED = (
    *("path", "group", "resource", "subresource", "namespace", "name", "serviceAccount"),
    *("fieldSelector", "labelSelector", "check", "allowed", "reason", "errored", "error"),
)
"""The methods that a value may have of its own."""


def _call_method(method: str, receiver: Any, *arguments: Any) -> Any:
    if not isinstance(receiver, values.Asked):
        raise TypeError
    return receiver.answer(method, *arguments)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "size": _size,
    "int": to_int,
    "uint": lambda value: Uint(to_uint(value)),
    "double": to_double,
    "string": to_string,
    "bool": to_bool,
    "bytes": to_bytes,
    "dyn": lambda value: value,
    "type": lambda value: TypeName(type_name(value)),
    "duration": to_duration,
    "timestamp": to_timestamp,
    "matches": matches,
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "optional.of": lambda value: Maybe((value,)),
    "optional.none": Maybe,
    "optional.ofNonZeroValue": lambda value: Maybe((value,)) if value else Maybe(),
    "math.greatest": lambda *items: _least(list(items[0] if len(items) == 1 and isinstance(items[0], list) else items), ">"),
    "math.least": lambda *items: _least(list(items[0] if len(items) == 1 and isinstance(items[0], list) else items), "<"),
    "base64.encode": lambda value: base64.b64encode(to_bytes(value)).decode(),
    "base64.decode": lambda value: base64.b64decode(as_text(value), validate=True),
    "sets.contains": lambda one, other: all(any(values.equal(item, x) for x in as_list(one)) for item in as_list(other)),
    "sets.intersects": lambda one, other: any(any(values.equal(item, x) for x in as_list(one)) for item in as_list(other)),
    "sets.equivalent": lambda one, other: all(
        any(values.equal(item, x) for x in there) for here, there in ((one, other), (other, one)) for item in as_list(here)
    ),
}  # fmt: skip

METHODS: Mapping[str, Callable[..., Any]] = {
    "size": _size,
    "contains": lambda text, part: as_text(part) in as_text(text),
    "startsWith": lambda text, part: as_text(text).startswith(as_text(part)),
    "endsWith": lambda text, part: as_text(text).endswith(as_text(part)),
    "matches": matches,
    "find": find,
    "findAll": find_all,
    "charAt": char_at,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "lowerAscii": lower,
    "upperAscii": upper,
    "replace": replace,
    "split": split,
    "substring": substring,
    "trim": lambda text: as_text(text).strip(),
    "reverse": lambda value: value[::-1] if isinstance(value, str | list) else as_list(value),
    "join": join,
    "format": format_text,
    "isSorted": _is_sorted,
    "sum": _sum,
    "min": lambda items: _least(items, "<"),
    "max": lambda items: _least(items, ">"),
    "isGreaterThan": lambda one, other: bool(_amount(one) > _amount(other)),
    "isLessThan": lambda one, other: bool(_amount(one) < _amount(other)),
    "compareTo": lambda one, other: (_amount(one) > _amount(other)) - (_amount(one) < _amount(other)),
    "sign": lambda one: (one.value > 0) - (one.value < 0),
    "add": lambda one, other: _with_amount(one, one.value + _amount(other)),
    "sub": lambda one, other: _with_amount(one, one.value - _amount(other)),
    "isInteger": lambda one: one.value.denominator == 1,
    "asInteger": lambda one: values.integer(int(one.value)),
    "asApproximateFloat": lambda one: float(one.value),
    "hasValue": lambda one: bool(one.values),
    "value": _value,
    "orValue": _or_value,
    "or": _or,
    "getFullYear": _part(lambda time: time.year),
    "getMonth": _part(lambda time: time.month - 1),
    "getDate": _part(lambda time: time.day),
    "getDayOfMonth": _part(lambda time: time.day - 1),
    "getDayOfWeek": _part(lambda time: time.isoweekday() % 7),
    "getDayOfYear": _part(lambda time: time.timetuple().tm_yday - 1),
    "getHours": _part(lambda time: time.hour, lambda span: int(span.total_seconds() / 3600)),
    "getMinutes": _part(lambda time: time.minute, lambda span: int(span.total_seconds() / 60)),
    "getSeconds": _part(lambda time: time.second, lambda span: int(span.total_seconds())),
    "getMilliseconds": _part(
        lambda time: time.microsecond // 1000, lambda span: int(span.total_seconds() * 1000)
    ),
    **{name: partial(_call_method, name) for name in ASKED},
}

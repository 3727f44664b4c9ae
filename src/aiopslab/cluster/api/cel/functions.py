"""The functions of the language: conversions, text, lists, times, quantities, optional values.

A function that is given values of other types than it takes raises ``TypeError`` or the like; the caller turns that
into ``no such overload``.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from aiopslab.cluster.api import quantity
from aiopslab.cluster.api.cel import values
from aiopslab.cluster.api.cel.errors import CelError, CostExceeded
from aiopslab.cluster.api.cel.values import Maybe, Quantity, TypeName, Uint, type_name
from aiopslab.cluster.api.schema.scalars import Unreadable, read_time
from aiopslab.cluster.golang.durations import parse_duration_ns
from aiopslab.cluster.golang.regexps import BadRegex, compiled

MAX_TEXT = 1_000_000


def _text(value: Any) -> str:
    if not isinstance(value, str) or isinstance(value, TypeName):
        raise TypeError
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _whole(value: Any) -> int:
    if type_name(value) not in ("int", "uint"):
        raise TypeError
    return int(value)


def _size(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise TypeError


def _to_int(value: Any) -> int:
    kind = type_name(value)
    if kind == "google.protobuf.Timestamp":
        return int(value.timestamp())
    if kind in ("int", "uint"):
        return values.integer(int(value))
    if kind == "double":
        if not math.isfinite(value) or abs(value) >= 2**63:
            raise CelError("integer overflow")
        return int(value)
    try:
        return values.integer(int(re.fullmatch(r"-?[0-9]{1,19}", _text(value), re.ASCII).group()))  # type: ignore[union-attr]
    except AttributeError:
        raise CelError(f'strconv.ParseInt: parsing "{value}": invalid syntax') from None


def _to_uint(value: Any) -> int:
    if type_name(value) == "double":
        value = _to_int(value)
    number = int(value) if not isinstance(value, str) else _to_int(value)
    return values.integer(number, "uint")


def _to_double(value: Any) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise CelError(f'strconv.ParseFloat: parsing "{value}": invalid syntax') from None
    if not values.is_number(value):
        raise TypeError
    return float(value)


def _to_string(value: Any) -> str:
    match type_name(value):
        case "string":
            return str(value)
        case "bool":
            return "true" if value else "false"
        case "int" | "uint":
            return str(int(value))
        case "double":
            return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
        case "bytes":
            return str(value.decode())
        case "google.protobuf.Timestamp":
            return f"{value:%Y-%m-%dT%H:%M:%S}{_fraction(value.microsecond)}Z"
        case "google.protobuf.Duration":
            return f"{_number(value.total_seconds())}s"
    raise TypeError


def _fraction(micros: int) -> str:
    return f".{micros:06d}".rstrip("0") if micros else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "TRUE", "t", "1"):
        return True
    if value in ("false", "False", "FALSE", "f", "0"):
        return False
    raise TypeError


def _to_duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    try:
        return timedelta(microseconds=parse_duration_ns(_text(value)) / 1000)
    except ValueError as fault:
        raise CelError(str(fault)) from None


def _to_timestamp(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if type_name(value) == "int":
        return datetime.fromtimestamp(value, UTC)
    try:
        whole = datetime.strptime(read_time(_text(value)), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except Unreadable as fault:
        raise CelError(str(fault)) from None
    micros = re.search(r"\.([0-9]{1,6})", value)
    return whole + timedelta(microseconds=int(micros[1].ljust(6, "0")) if micros else 0)


def _to_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else _text(value).encode()


def _pattern(value: Any) -> Any:
    try:
        return compiled(_text(value))
    except BadRegex as fault:
        raise CelError(str(fault)) from None


def _matches(text: Any, pattern: Any) -> bool:
    return _pattern(pattern).search(_text(text)) is not None


def _find(text: Any, pattern: Any) -> str:
    found = _pattern(pattern).search(_text(text))
    return found.group() if found else ""


def _find_all(text: Any, pattern: Any, limit: int = -1) -> list[str]:
    found = [match.group() for match in _pattern(pattern).finditer(_text(text))]
    return found if limit < 0 else found[: _whole(limit)]


def _replace(text: Any, old: Any, new: Any, limit: int = -1) -> str:
    if len(_text(text)) * max(1, len(_text(new))) > MAX_TEXT:
        raise CostExceeded
    return _text(text).replace(_text(old), _text(new), _whole(limit))


def _split(text: Any, separator: Any, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if separator == "":
        return list(_text(text))
    return _text(text).split(_text(separator), -1 if limit < 0 else _whole(limit) - 1)


def _substring(text: Any, start: Any, end: Any = None) -> str:
    stop = len(_text(text)) if end is None else _whole(end)
    if not 0 <= _whole(start) <= stop <= len(text):
        raise CelError(f"index out of range: {start if start > len(text) or start < 0 else stop}")
    return _text(text)[start:stop]


def _char_at(text: Any, index: Any) -> str:
    if not 0 <= _whole(index) <= len(_text(text)):
        raise CelError(f"index out of range: {index}")
    return _text(text)[index : index + 1]


def _index_of(where: Any, what: Any, start: int = 0) -> int:
    if isinstance(where, list):
        return next((index for index, item in enumerate(where) if values.equal(item, what)), -1)
    return _text(where).find(_text(what), _whole(start))


def _last_index_of(where: Any, what: Any) -> int:
    if isinstance(where, list):
        return max((index for index, item in enumerate(where) if values.equal(item, what)), default=-1)
    return _text(where).rfind(_text(what))


def _lower(text: Any) -> str:
    return "".join(char.lower() if char.isascii() else char for char in _text(text))


def _upper(text: Any) -> str:
    return "".join(char.upper() if char.isascii() else char for char in _text(text))


def _join(items: Any, separator: Any = "") -> str:
    if sum(len(_text(item)) + len(_text(separator)) for item in _list(items)) > MAX_TEXT:
        raise CostExceeded
    return _text(separator).join(items)


def _format(text: Any, arguments: Any) -> str:
    if (
        len(_text(text))
        * (1 + max((len(one) for one in _list(arguments) if isinstance(one, str)), default=0))
        > MAX_TEXT
    ):
        raise CostExceeded
    waiting = iter(arguments)

    def fill(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        try:
            value = next(waiting)
        except StopIteration:
            raise CelError("index out of range") from None
        if match[1] and match[2] in "fe":
            return f"{float(value):{match[1]}{match[2]}}"
        return _to_string(value)

    return re.sub(r"%(\.[0-9]{1,2})?([sdfeboxX])|%%", fill, _text(text))


def _is_sorted(items: Any) -> bool:
    return all(values.compare("<=", one, other) for one, other in zip(_list(items), items[1:], strict=False))


def _sum(items: Any) -> Any:
    total = None
    for item in _list(items):
        total = item if total is None else values.add(total, item)
    return 0 if total is None else total


def _least(items: Any, sign: str) -> Any:
    if not _list(items):
        raise CelError(f"{'min' if sign == '<' else 'max'} called on empty list")
    best = items[0]
    for item in items[1:]:
        best = item if values.compare(sign, item, best) else best
    return best


def _quantity(value: Any) -> Quantity:
    try:
        return Quantity(quantity.parse(_text(value)), value)
    except ValueError:
        raise CelError(quantity.BAD_FORM) from None


def _is_quantity(value: Any) -> bool:
    try:
        quantity.parse(_text(value))
    except ValueError:
        return False
    return True


def _amount(value: Any) -> Any:
    return value.value if isinstance(value, Quantity) else _whole(value)


def _changed(one: Quantity, amount: Any) -> Quantity:
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


def _said(method: str, receiver: Any, *arguments: Any) -> Any:
    if not isinstance(receiver, values.Asked):
        raise TypeError
    return receiver.answer(method, *arguments)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "size": _size,
    "int": _to_int,
    "uint": lambda value: Uint(_to_uint(value)),
    "double": _to_double,
    "string": _to_string,
    "bool": _to_bool,
    "bytes": _to_bytes,
    "dyn": lambda value: value,
    "type": lambda value: TypeName(type_name(value)),
    "duration": _to_duration,
    "timestamp": _to_timestamp,
    "matches": _matches,
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "optional.of": lambda value: Maybe((value,)),
    "optional.none": Maybe,
    "optional.ofNonZeroValue": lambda value: Maybe((value,)) if value else Maybe(),
    "math.greatest": lambda *items: _least(list(items[0] if len(items) == 1 and isinstance(items[0], list) else items), ">"),
    "math.least": lambda *items: _least(list(items[0] if len(items) == 1 and isinstance(items[0], list) else items), "<"),
    "base64.encode": lambda value: base64.b64encode(_to_bytes(value)).decode(),
    "base64.decode": lambda value: base64.b64decode(_text(value), validate=True),
    "sets.contains": lambda one, other: all(any(values.equal(item, x) for x in _list(one)) for item in _list(other)),
    "sets.intersects": lambda one, other: any(any(values.equal(item, x) for x in _list(one)) for item in _list(other)),
    "sets.equivalent": lambda one, other: all(
        any(values.equal(item, x) for x in there) for here, there in ((one, other), (other, one)) for item in _list(here)
    ),
    "jsonpatch.escapeKey": lambda key: _text(key).replace("~", "~0").replace("/", "~1"),
}  # fmt: skip

METHODS: Mapping[str, Callable[..., Any]] = {
    "size": _size,
    "contains": lambda text, part: _text(part) in _text(text),
    "startsWith": lambda text, part: _text(text).startswith(_text(part)),
    "endsWith": lambda text, part: _text(text).endswith(_text(part)),
    "matches": _matches,
    "find": _find,
    "findAll": _find_all,
    "charAt": _char_at,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "lowerAscii": _lower,
    "upperAscii": _upper,
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "trim": lambda text: _text(text).strip(),
    "reverse": lambda value: value[::-1] if isinstance(value, str | list) else _list(value),
    "join": _join,
    "format": _format,
    "isSorted": _is_sorted,
    "sum": _sum,
    "min": lambda items: _least(items, "<"),
    "max": lambda items: _least(items, ">"),
    "isGreaterThan": lambda one, other: bool(_amount(one) > _amount(other)),
    "isLessThan": lambda one, other: bool(_amount(one) < _amount(other)),
    "compareTo": lambda one, other: (_amount(one) > _amount(other)) - (_amount(one) < _amount(other)),
    "sign": lambda one: (one.value > 0) - (one.value < 0),
    "add": lambda one, other: _changed(one, one.value + _amount(other)),
    "sub": lambda one, other: _changed(one, one.value - _amount(other)),
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
    "getMilliseconds": _part(lambda time: time.microsecond // 1000, lambda span: int(span.total_seconds() * 1000)),
    **{name: partial(_said, name) for name in ASKED},
}  # fmt: skip

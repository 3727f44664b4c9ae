"""Conversions between CEL's types, and type checks of arguments.

A value of another type raises ``TypeError``; an unusable value of the right type raises ``CelError``.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from simcloud.golang import parse_duration_ns
from simcloud.kubernetes.api.cel import values
from simcloud.kubernetes.api.cel.values import CelError, TypeName, type_name
from simcloud.kubernetes.api.schema.scalars import Unreadable, read_time


def as_text(value: Any) -> str:
    """A text as it is."""
    if not isinstance(value, str) or isinstance(value, TypeName):
        raise TypeError
    return value


def as_list(value: Any) -> list[Any]:
    """A list as it is."""
    if not isinstance(value, list):
        raise TypeError
    return value


def as_whole(value: Any) -> int:
    """A whole number, signed or not."""
    if type_name(value) not in ("int", "uint"):
        raise TypeError
    return int(value)


def to_int(value: Any) -> int:
    """``int(…)``: of a number, a text or a time."""
    kind = type_name(value)
    if kind == "google.protobuf.Timestamp":
        return int(value.timestamp())
    if kind in ("int", "uint"):
        return values.integer(int(value))
    if kind == "double":
        if not math.isfinite(value) or abs(value) >= 2**63:
            raise CelError("integer overflow")
        return int(value)
    if not re.fullmatch(r"-?[0-9]{1,19}", as_text(value)):
        raise CelError(f'strconv.ParseInt: parsing "{value}": invalid syntax')
    return values.integer(int(value))


def to_uint(value: Any) -> int:
    """``uint(…)``."""
    if type_name(value) == "double":
        value = to_int(value)
    number = int(value) if not isinstance(value, str) else to_int(value)
    return values.integer(number, "uint")


def to_double(value: Any) -> float:
    """``double(…)``."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise CelError(f'strconv.ParseFloat: parsing "{value}": invalid syntax') from None
    if not values.is_number(value):
        raise TypeError
    return float(value)


def to_string(value: Any) -> str:
    """``string(…)``, as Go writes it."""
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


def to_bool(value: Any) -> bool:
    """``bool(…)``."""
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "TRUE", "t", "1"):
        return True
    if value in ("false", "False", "FALSE", "f", "0"):
        return False
    raise TypeError


def to_duration(value: Any) -> timedelta:
    """``duration(…)``: of a text as Go writes one."""
    if isinstance(value, timedelta):
        return value
    try:
        return timedelta(microseconds=parse_duration_ns(as_text(value)) / 1000)
    except ValueError as fault:
        raise CelError(str(fault)) from None


def to_timestamp(value: Any) -> datetime:
    """``timestamp(…)``: of a text, or of the seconds since 1970."""
    if isinstance(value, datetime):
        return value
    if type_name(value) == "int":
        return datetime.fromtimestamp(value, UTC)
    try:
        whole = datetime.strptime(read_time(as_text(value)), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except Unreadable as fault:
        raise CelError(str(fault)) from None
    micros = re.search(r"\.([0-9]{1,6})", value)
    return whole + timedelta(microseconds=int(micros[1].ljust(6, "0")) if micros else 0)


def to_bytes(value: Any) -> bytes:
    """``bytes(…)``."""
    return value if isinstance(value, bytes) else as_text(value).encode()

"""Values with different forms in protobuf and JSON: times, quantities, ports that may be names, raw JSON.

Each shape has a reader and a writer, in ``READERS`` and ``WRITERS``. The reader of no bytes returns the zero value of
the shape. Readers only raise ``BadRequest``; writers get values that match their schema.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from simcloud.kubernetes.api import BadRequest, quantity
from simcloud.server.kubernetes.protobuf import wire

MAX_JSON_DEPTH = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
_BILLION = 1_000_000_000


def read_text(data: bytes) -> str:
    """Text; like Go's JSON encoder, one replacement character for each byte that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        escaped = data.decode(errors="surrogateescape")
        return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in escaped)


def write_text(text: str) -> bytes:
    """Text as bytes; what cannot be encoded is replaced, never refused."""
    return text.encode(errors="replace")


def read_base64(data: bytes) -> str:
    """Bytes as JSON shows them."""
    return base64.b64encode(data).decode()


def write_base64(text: str) -> bytes:
    """Return the bytes behind their JSON form."""
    return base64.b64decode(text)


def read_double(data: bytes) -> float | int:
    """Return a number; a whole one as JSON shows it."""
    value: float = struct.unpack("<d", data)[0] if data else 0.0
    if value != value or value in {float("inf"), float("-inf")}:
        raise BadRequest("json: unsupported value: " + {"inf": "+Inf", "-inf": "-Inf"}.get(str(value), "NaN"))
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def write_double(value: float) -> bytes:
    """Eight bytes."""
    return struct.pack("<d", value)


def read_strings(data: bytes) -> list[str] | None:
    """Return a list of strings behind a message; none is null."""
    found = [
        read_text(value)
        for number, _, value in wire.fields(data, "ExtraValue")
        if number == 1 and isinstance(value, bytes)
    ]
    return found or None


def write_strings(strings: list[str]) -> bytes:
    """Return the message around a list."""
    return b"".join(wire.write_counted(1, write_text(text)) for text in strings)


def _last(data: bytes, message: str) -> dict[int, Any]:
    return {number: value for number, _, value in wire.fields(data, message)}


def _number(value: Any, bits: int, name: str) -> int:
    if not isinstance(value, int):
        raise BadRequest(f"proto: wrong wireType = {wire.COUNTED} for field {name}")
    return wire.to_signed(value, bits)


def _bytes(value: Any, name: str) -> bytes:
    if not isinstance(value, bytes):
        raise BadRequest(f"proto: wrong wireType = {wire.VARINT} for field {name}")
    return value


def _moment(data: bytes) -> tuple[datetime, int] | None:
    """Return the time to the second and its nanoseconds; None for Go's zero time."""
    if not data:
        return None
    found = _last(data, "Timestamp")
    seconds = _number(found.get(1, 0), 64, "Seconds")
    nanos = _number(found.get(2, 0), 32, "Nanos")
    try:
        moment = _EPOCH + timedelta(seconds=seconds + nanos // _BILLION)
    except OverflowError:
        raise BadRequest("Time.MarshalJSON: year outside of range [0,9999]") from None
    nanos %= _BILLION
    return None if moment == _YEAR_ONE and not nanos else (moment, nanos)


def _format_seconds(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def read_time(data: bytes) -> str | None:
    """RFC 3339 to the second."""
    moment = _moment(data)
    return f"{_format_seconds(moment[0])}Z" if moment else None


def read_micro_time(data: bytes) -> str | None:
    """RFC 3339 to the microsecond."""
    moment = _moment(data)
    return f"{_format_seconds(moment[0])}.{moment[1] // 1000:06d}Z" if moment else None


def write_time(text: str | None) -> bytes:
    """Seconds and nanoseconds since 1970; nothing for null."""
    if text is None:
        return b""
    since = datetime.fromisoformat(text) - _EPOCH
    return wire.write_varint(1, since.days * 86400 + since.seconds) + wire.write_varint(
        2, since.microseconds * 1000
    )


def read_quantity(data: bytes) -> str:
    """Return an amount as the server stores it."""
    text = _last(data, "Quantity").get(1, b"0")
    try:
        return quantity.canonical(read_text(_bytes(text, "String_")))
    except ValueError:
        raise BadRequest(quantity.BAD_FORM) from None


def write_quantity(text: str | float) -> bytes:
    """Return the amount's own text."""
    return wire.write_counted(1, quantity.canonical(text).encode())


def read_int_or_string(data: bytes) -> int | str:
    """Return a port or a share: a number or a text."""
    found = _last(data, "IntOrString")
    kind = _number(found.get(1, 0), 64, "Type")
    if kind == 0:
        return _number(found.get(2, 0), 32, "IntVal")
    if kind == 1:
        return read_text(_bytes(found.get(3, b""), "StrVal"))
    raise BadRequest("impossible IntOrString.Type")


def write_int_or_string(value: int | str) -> bytes:
    """Encode the kind and both values."""
    is_text = isinstance(value, str)
    return (
        wire.write_varint(1, int(is_text))
        + wire.write_varint(2, 0 if isinstance(value, str) else value)
        + wire.write_counted(3, write_text(value) if isinstance(value, str) else b"")
    )


def read_json(data: bytes) -> Any:
    """Decode raw JSON text; no bytes are null."""
    text = _bytes(_last(data, "RawExtension").get(1, b""), "Raw")
    if not text:
        return None
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        raise BadRequest("exceeded max depth") from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadRequest(f"couldn't get version/kind; json parse error: {error}") from None
    if _is_deep(value):
        raise BadRequest("exceeded max depth")
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_JSON_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += item.values()
            elif isinstance(item, list):
                below += item
        if not below:
            return False
        level = below
    return True


def write_json(value: Any) -> bytes:
    """JSON text; nothing for null."""
    return b"" if value is None else wire.write_counted(1, msgspec.json.encode(value))


READERS: Mapping[str, Callable[[bytes], Any]] = {
    "string": read_text,
    "bytes": read_base64,
    "double": read_double,
    "strings": read_strings,
    "time": read_time,
    "micro_time": read_micro_time,
    "quantity": read_quantity,
    "int_or_string": read_int_or_string,
    "json": read_json,
}
WRITERS: Mapping[str, Callable[[Any], bytes]] = {
    "string": write_text,
    "bytes": write_base64,
    "double": write_double,
    "strings": write_strings,
    "time": write_time,
    "micro_time": write_time,
    "quantity": write_quantity,
    "int_or_string": write_int_or_string,
    "json": write_json,
}
NUMBERS: Mapping[str, Callable[[int], int | bool]] = {
    "bool": bool,
    "int32": lambda value: wire.to_signed(value, 32),
    "int64": lambda value: wire.to_signed(value, 64),
}

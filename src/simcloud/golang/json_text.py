"""JSON as Go encodes it: sorted keys, escaped HTML characters, numbers in Go's form.

msgspec encodes the bytes, which is many times faster than an encoder of ours; what Go encodes differently is
corrected afterwards, and numbers only where the text contains candidates.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from simcloud.golang.numbers import is_int64, json_float

_SORTED = msgspec.json.Encoder(order="deterministic")
_AS_HELD = msgspec.json.Encoder()
_HTML = (
    (b"&", b"\\u0026"),
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)
_PACKED_FLOAT, _PACKED_LARGE = b"\xcb", b"\xcf"
"""MessagePack's markers of floats and large numbers; other data may contain these bytes too."""
_STRING_OR_NUMBER = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*')


def format_json(value: Any, *, indent: int = 0, keep_order: bool = False) -> str:
    """A value as JSON on one line, or indented. ``keep_order`` leaves maps in the order they are held."""
    encoder = _AS_HELD if keep_order else _SORTED
    try:
        encoded = encoder.encode(value)
    except UnicodeEncodeError:  # a template may make bytes that are no text
        encoded = encoder.encode(_readable(value))
    for plain, escaped in _HTML:
        if plain in encoded:
            encoded = encoded.replace(plain, escaped)
    if _may_have_odd_numbers(value):
        encoded = _STRING_OR_NUMBER.sub(_number, encoded)
    if indent:
        encoded = msgspec.json.format(encoded, indent=indent)
    return encoded.decode()


def _may_have_odd_numbers(value: Any) -> bool:
    """Whether a value may hold numbers to put right. Packing it is much quicker than looking at everything."""
    try:
        packed = msgspec.msgpack.encode(value)
    except (OverflowError, UnicodeEncodeError):
        return True
    return _PACKED_FLOAT in packed or _PACKED_LARGE in packed


def _number(match: re.Match[bytes]) -> bytes:
    text = match.group()
    if text.startswith(b'"'):
        return text
    if text.lstrip(b"-").isdigit() and is_int64(int(text)):
        return text
    return json_float(float(text)).encode()


def _readable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_readable(key): _readable(held) for key, held in value.items()}
    return [_readable(held) for held in value] if isinstance(value, list) else value

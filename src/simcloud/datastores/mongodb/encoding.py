"""BSON encoding, used for data files and for size limits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from struct import Struct, error
from typing import Any, Final

from simcloud.datastores.mongodb.bson import (
    EPOCH,
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    Binary,
    Document,
    Int64,
    ObjectId,
    Regex,
    milliseconds,
)

SMALL_BYTES: Final = 48
UNCHANGED: Final = frozenset({str, float, bool, ObjectId, type(None)})
"""Types whose values come back from decoding as they were encoded."""
_INT32: Final = Struct("<i")
_INT64: Final = Struct("<q")
_DOUBLE: Final = Struct("<d")
_PLACES: Final = tuple(b"%d\0" % place for place in range(512))


class NotBson(Exception):
    """The bytes are not a BSON document."""


class Encoded(bytes):
    """An embedded document that is encoded already. One that is part of many documents is encoded once then."""

    document: Document
    """What decoding the bytes gives."""

    def __new__(cls, document: Document) -> Encoded:
        encoded = super().__new__(cls, encode(document))
        encoded.document = restore_value(document)
        return encoded


def encode(document: Document) -> bytes:
    """Return a document's bytes."""
    return _wrap([_element(_key(name), value) for name, value in document.items()])


def _wrap(elements: list[bytes]) -> bytes:
    body = b"".join(elements)
    return _INT32.pack(len(body) + 5) + body + b"\0"


@lru_cache(maxsize=4096)
def _key(name: str) -> bytes:
    """A field's name as bytes; the documents of a collection have theirs in common."""
    return name.encode("utf-8", "surrogatepass") + b"\0"


def _element(key: bytes, value: Any) -> bytes:
    kind = value.__class__
    if kind is str:
        data: bytes = value.encode("utf-8", "surrogatepass")
        return b"\x02" + key + _INT32.pack(len(data) + 1) + data + b"\0"
    if kind is Encoded:
        encoded: bytes = value
        return b"\x03" + key + encoded
    if kind is float:
        return b"\x01" + key + _DOUBLE.pack(value)
    if kind is int and INT32_MIN <= value <= INT32_MAX:
        return b"\x10" + key + _INT32.pack(value)
    if kind is int or kind is Int64:
        return b"\x12" + key + _INT64.pack(max(INT64_MIN, min(INT64_MAX, value)))
    if kind is ObjectId:
        return b"\x07" + key + bytes(value.binary)
    if kind is dict:
        return b"\x03" + key + encode(value)
    if kind is list:
        items = [
            b"\x03" + place + each if each.__class__ is Encoded else _element(place, each)
            for each, place in zip(value, _list_places(len(value)), strict=False)
        ]
        return b"\x04" + key + _wrap(items)
    if kind is bool:
        return b"\x08" + key + (b"\1" if value else b"\0")
    if value is None:
        return b"\x0a" + key
    return _rare(key, value)


def _list_places(count: int) -> Sequence[bytes]:
    """The names of an array's items: at least ``count`` of them."""
    return _PLACES if count <= len(_PLACES) else [b"%d\0" % place for place in range(count)]


def _rare(key: bytes, value: Any) -> bytes:
    kind = value.__class__
    data: bytes
    if kind is datetime:
        return b"\x09" + key + _INT64.pack(milliseconds(value))
    if kind is Binary or kind is bytes:
        data, subtype = (value.data, value.subtype) if kind is Binary else (value, 0)
        return b"\x05" + key + _INT32.pack(len(data)) + bytes([subtype]) + data
    if kind is Regex:
        data = f"{value.pattern}\0{value.options}\0".encode("utf-8", "surrogatepass")
        return b"\x0b" + key + data
    raise TypeError(f"{kind.__name__} is no BSON type")


def decode(data: bytes) -> Document:
    """Return the document of these bytes; ``NotBson`` when they are none."""
    try:
        document, end = _document(data, 0)
    except (error, IndexError, ValueError, UnicodeDecodeError, RecursionError) as trouble:
        raise NotBson(str(trouble)) from None
    if end != len(data):
        raise NotBson("bytes after the end of the document")
    return document


def restore_value(value: Any) -> Any:
    """Return what decoding the bytes of a value gives, mostly without encoding it."""
    kind = value.__class__
    if kind is dict:
        return {
            name: each if each.__class__ in UNCHANGED else restore_value(each) for name, each in value.items()
        }
    if kind is list:
        return [each.document if each.__class__ is Encoded else restore_value(each) for each in value]
    if (kind is int and INT64_MIN <= value <= INT64_MAX) or (
        kind is Int64 and INT32_MIN <= value <= INT32_MAX
    ):
        return value
    if kind is Encoded:
        return value.document
    return decode(encode({"": value}))[""]


def _document(data: bytes, at: int) -> tuple[Document, int]:
    end = at + _INT32.unpack_from(data, at)[0]
    at += 4
    document: Document = {}
    while True:
        kind = data[at]
        if kind == 0:
            if at + 1 != end:
                raise ValueError("a document of the wrong length")
            return document, end
        zero = data.index(0, at + 1)
        document[_name(data[at + 1 : zero])], at = _value(kind, data, zero + 1)


def _array(data: bytes, at: int) -> tuple[list[Any], int]:
    end = at + _INT32.unpack_from(data, at)[0]
    at += 4
    items: list[Any] = []
    while True:
        kind = data[at]
        if kind == 0:
            if at + 1 != end:
                raise ValueError("an array of the wrong length")
            return items, end
        at = data.index(0, at + 1) + 1
        if kind == 0x03 and 0 < (size := _INT32.unpack_from(data, at)[0]) <= SMALL_BYTES:
            items.append(_small(data[at : at + size]))  # most arrays are of such
            at += size
        else:
            item, at = _value(kind, data, at)
            items.append(item)


@lru_cache(maxsize=4096)
def _name(data: bytes) -> str:
    """Return a field's name; the documents of a collection have theirs in common."""
    return data.decode("utf-8", "surrogatepass")


@lru_cache(maxsize=4096)
def _int64(data: bytes) -> int:
    """Return a long; ids and moments occur again and again."""
    number: int = _INT64.unpack(data)[0]
    return Int64(number) if INT32_MIN <= number <= INT32_MAX else number


@lru_cache(maxsize=4096)
def _small(data: bytes) -> Document:
    """Return a small embedded document. Equal ones are shared, because stored documents are not changed."""
    document, end = _document(data, 0)
    if end != len(data):
        raise ValueError("a document of the wrong length")
    return document


def _value(kind: int, data: bytes, at: int) -> tuple[Any, int]:
    if kind == 0x02:
        size = _INT32.unpack_from(data, at)[0]
        return data[at + 4 : at + 3 + size].decode("utf-8", "surrogatepass"), at + 4 + size
    if kind == 0x01:
        return _DOUBLE.unpack_from(data, at)[0], at + 8
    if kind == 0x10:
        return _INT32.unpack_from(data, at)[0], at + 4
    if kind == 0x12:
        return _int64(data[at : at + 8]), at + 8
    if kind == 0x07:
        return ObjectId(data[at : at + 12]), at + 12
    if kind == 0x03:
        size = _INT32.unpack_from(data, at)[0]
        return (_small(data[at : at + size]), at + size) if 0 < size <= SMALL_BYTES else _document(data, at)
    if kind == 0x04:
        return _array(data, at)
    if kind == 0x08:
        return data[at] == 1, at + 1
    if kind == 0x0A:
        return None, at
    return _rare_value(kind, data, at)


def _rare_value(kind: int, data: bytes, at: int) -> tuple[Any, int]:
    if kind == 0x09:
        return EPOCH + timedelta(milliseconds=_INT64.unpack_from(data, at)[0]), at + 8
    if kind == 0x05:
        size = _INT32.unpack_from(data, at)[0]
        return Binary(data[at + 5 : at + 5 + size], data[at + 4]), at + 5 + size
    if kind == 0x0B:
        middle = data.index(0, at)
        end = data.index(0, middle + 1)
        return Regex(data[at:middle].decode(), data[middle + 1 : end].decode()), end + 1
    raise ValueError(f"unknown type {kind:#x}")

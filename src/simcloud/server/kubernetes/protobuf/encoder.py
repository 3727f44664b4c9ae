"""Encodes an object as protobuf, byte for byte as Go does.

Fields are in the order of their numbers, maps in the order of their keys; a field that is not a pointer is written
even if it is zero. The object must match its schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.kubernetes.api import NotAcceptable, Object
from simcloud.server.kubernetes.protobuf import wire
from simcloud.server.kubernetes.protobuf.decoder import MAGIC
from simcloud.server.kubernetes.protobuf.shapes import NUMBERS, WRITERS, write_text
from simcloud.server.kubernetes.protobuf.tables import Field, Message, message, message_of
from simcloud.server.kubernetes.protobuf.unions import expand

_ZEROS: Mapping[str, Any] = {"string": "", "quantity": "0", "int_or_string": 0, "double": 0.0}


def encode(obj: Object) -> bytes:
    """Return the body of an object. Raises ``NotAcceptable`` for a kind without a protobuf form."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    group, _, version = api_version.rpartition("/")
    table = message_of(group, version, kind)
    if table is None:
        raise NotAcceptable(
            "object *unstructured.Unstructured does not implement the protobuf marshalling interface"
            " and cannot be encoded to a protobuf message"
        )
    names = wire.write_counted(1, write_text(api_version)) + wire.write_counted(2, write_text(kind))
    parts = (names, _message(obj, table), b"", b"")  # the last two: content encoding and type, unused
    return MAGIC + b"".join(wire.write_counted(number, part) for number, part in enumerate(parts, 1))


def encode_watch_event(type: str, obj: Object) -> bytes:
    """One frame of a watch: the length, then an event (without an envelope) around the object's body."""
    event = wire.write_counted(1, write_text(type)) + wire.write_counted(
        2, wire.write_counted(1, encode(obj))
    )
    return len(event).to_bytes(4, "big") + event


def _message(shown: Any, table: Message) -> bytes:
    fields = expand(table.name, shown) or {}
    return b"".join(part for field in table.by_number.values() for part in _field(fields, field))


def _field(shown: Mapping[str, Any], field: Field) -> Iterator[bytes]:
    if not field.name:
        yield _one(field, shown)
        return
    value: Any = shown.get(field.name)
    if value is None and field.nullable:
        pass
    elif field.mapped:
        for key in sorted(value):
            pair = wire.write_counted(1, write_text(key)) + _one(field, value[key], 2)
            yield wire.write_counted(field.number, pair)
    elif field.repeated:
        for item in value:
            yield _one(field, item)
    else:
        yield _one(field, value)


def _one(field: Field, value: Any, number: int = 0) -> bytes:
    """One value under the field's number, or another (in a map's pair)."""
    number = number or field.number
    if value is None:
        value = _ZEROS.get(field.shape)
    if field.shape in NUMBERS:
        return wire.write_varint(number, value or 0)
    if field.shape == "message":
        return wire.write_counted(number, _message(value, message(field.message)))
    written = WRITERS[field.shape](value)
    return (
        wire.write_fixed64(number, written)
        if field.shape == "double"
        else wire.write_counted(number, written)
    )

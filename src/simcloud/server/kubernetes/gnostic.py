"""OpenAPI v2 as protobuf: gnostic's message ``openapi.v2.Document``, which kubectl requests instead of JSON.

The tables map the JSON names of the fields that our documents use to their numbers in gnostic's
``OpenAPIv2.proto``. Other fields are omitted, as gnostic lacks them too. Vendor extensions (``x-…``), defaults and
enumeration values are YAML text there; we write them as JSON, which is unambiguous YAML.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from simcloud.kubernetes.api import Object
from simcloud.server.kubernetes.protobuf.wire import write_counted, write_fixed64, write_varint

MEDIA: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_ASKED: Final = (MEDIA, "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")

Write = Callable[[int, Any], bytes]
"""Encodes a field from its number and its value."""


def is_wanted(accept: str) -> bool:
    """Return whether a client prefers this format."""
    for clause in accept.split(","):
        media = clause.partition(";")[0].strip()
        if media in _ASKED:
            return True
        if media in ("application/json", "application/*", "*/*"):
            return False
    return False


@lru_cache(maxsize=2)
def from_json(document: bytes) -> bytes:
    """Convert a JSON document to protobuf; the last results are cached."""
    return openapi_v2(msgspec.json.decode(document))


def openapi_v2(document: Object) -> bytes:
    """Encode a document of OpenAPI v2 as ``openapi.v2.Document``."""
    return _message("Document", document)


def _text(number: int, value: str) -> bytes:
    return write_counted(number, value.encode()) if value else b""


def _flag(number: int, value: bool) -> bytes:
    return write_varint(number, 1) if value else b""


def _whole(number: int, value: int) -> bytes:
    return write_varint(number, value) if value else b""


def _real(number: int, value: float) -> bytes:
    return write_fixed64(number, struct.pack("<d", value)) if value else b""


_UNPRINTABLE = re.compile("[\x7f-\x9f\ufeff\ufffe\uffff]")


def _any(number: int, value: object) -> bytes:
    """``Any``: YAML text. YAML forbids some characters that JSON allows, but not their escapes."""
    text = msgspec.json.encode(value).decode()
    escaped = _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return write_counted(number, write_counted(2, f"{escaped}\n".encode()))


# Schemas hold schemas, as deep as a user likes: what leads from one to the next takes few calls.


def _of(name: str) -> Write:
    return lambda number, value: write_counted(number, _message(name, value))


def _each(write: Write) -> Write:
    return lambda number, values: b"".join([write(number, value) for value in values])


def _within(write: Write) -> Write:
    """Return the value in a message that has this one field."""
    return lambda number, value: write_counted(number, write(1, value))


def _map(write: Write, inner: int = 1) -> Write:
    """Return a map, which gnostic writes as a list of messages with a name and a value."""

    def write_map(number: int, values: Mapping[str, Any]) -> bytes:
        pairs = bytearray()
        for name, value in values.items():
            pairs += write_counted(inner, write_counted(1, name.encode()) + write(2, value))
        return write_counted(number, bytes(pairs))

    return write_map


def _type(number: int, value: str | list[str]) -> bytes:
    return write_counted(number, _TEXTS(1, value if isinstance(value, list) else [value]))


def _items(number: int, value: Any) -> bytes:
    if isinstance(value, list):
        return write_counted(number, _SCHEMAS(1, value))
    return write_counted(number, write_counted(1, _message("Schema", value)))


def _additional(number: int, value: Any) -> bytes:
    if isinstance(value, bool):
        return write_counted(number, write_varint(2, int(value)))
    return write_counted(number, write_counted(1, _message("Schema", value)))


_PLACES: Final = {"header": 1, "formData": 2, "query": 3, "path": 4}


def _parameter(number: int, value: Mapping[str, Any]) -> bytes:
    """Encode a parameter: each kind has its own message, wrapped in messages for the kind."""
    if "$ref" in value:
        return write_counted(number, _of("JsonReference")(2, value))
    if value["in"] == "body":
        return write_counted(number, write_counted(1, _of("BodyParameter")(1, value)))
    place = value["in"]
    table = "PathParameter" if place in ("header", "path") else "QueryParameter"
    parameter = write_counted(2, _of(table)(_PLACES[place], value))
    return write_counted(number, write_counted(1, parameter))


def _response(number: int, value: Mapping[str, Any]) -> bytes:
    if "$ref" in value:
        return write_counted(number, _of("JsonReference")(2, value))
    return write_counted(number, _of("Response")(1, value))


def _message(name: str, value: Mapping[str, Any]) -> bytes:
    fields, extension = _MESSAGES[name]
    write_map = bytearray()
    for key, (number, write) in fields.items():
        if (said := value.get(key)) is not None:
            write_map += write(number, said)
    if extension:
        for key, said in value.items():
            if key.startswith("x-"):
                write_map += write_counted(extension, write_counted(1, key.encode()) + _any(2, said))
    return bytes(write_map)


_SCHEMAS: Final = _each(_of("Schema"))
_TEXTS: Final = _each(_text)
_PARAMETERS: Final = _each(_parameter)

_LIMITS: Final[tuple[tuple[str, Write], ...]] = (
    ("type", _text), ("format", _text), ("items", _of("PrimitivesItems")), ("collectionFormat", _text),
    ("default", _any), ("maximum", _real), ("exclusiveMaximum", _flag), ("minimum", _real),
    ("exclusiveMinimum", _flag), ("maxLength", _whole), ("minLength", _whole), ("pattern", _text),
    ("maxItems", _whole), ("minItems", _whole), ("uniqueItems", _flag), ("enum", _each(_any)),
    ("multipleOf", _real),
)  # fmt: skip
"""The fields of primitive values, in the order of their numbers in all messages."""


def _number_fields(*words: tuple[str, Write], start: int = 1) -> dict[str, tuple[int, Write]]:
    return {word: (number, write) for number, (word, write) in enumerate(words, start)}


_PARAMETER: Final = (("required", _flag), ("in", _text), ("description", _text), ("name", _text))
_MESSAGES: Final[dict[str, tuple[dict[str, tuple[int, Write]], int]]] = {
    # message: its fields in the order of their numbers, and the number of vendor extensions, 0 for none
    "Document": (
        _number_fields(("swagger", _text), ("info", _of("Info")))
        | {"paths": (8, _map(_of("PathItem"), 2)), "definitions": (9, _map(_of("Schema")))},
        16,
    ),
    "Info": (_number_fields(("title", _text), ("version", _text), ("description", _text)), 7),
    "PathItem": (
        {method: (number, _of("Operation")) for number, method in enumerate(
            ("get", "put", "post", "delete", "options", "head", "patch"), 2
        )} | {"parameters": (9, _PARAMETERS)},
        10,
    ),
    "Operation": (
        {
            "tags": (1, _TEXTS), "summary": (2, _text), "description": (3, _text), "operationId": (5, _text),
            "produces": (6, _TEXTS), "consumes": (7, _TEXTS), "parameters": (8, _PARAMETERS),
            "responses": (9, _map(_response)), "schemes": (10, _TEXTS), "deprecated": (11, _flag),
        },
        13,
    ),
    "JsonReference": (_number_fields(("$ref", _text), ("description", _text)), 0),
    "Response": (_number_fields(("description", _text), ("schema", _within(_of("Schema")))), 5),
    "BodyParameter": (
        _number_fields(
            ("description", _text), ("name", _text), ("in", _text), ("required", _flag), ("schema", _of("Schema"))
        ),
        6,
    ),
    "QueryParameter": (_number_fields(*_PARAMETER, ("allowEmptyValue", _flag), *_LIMITS), 23),
    "PathParameter": (_number_fields(*_PARAMETER, *_LIMITS), 22),
    "PrimitivesItems": (_number_fields(*_LIMITS), 18),
    "Schema": (
        _number_fields(
            ("$ref", _text), ("format", _text), ("title", _text), ("description", _text), ("default", _any),
            ("multipleOf", _real), ("maximum", _real), ("exclusiveMaximum", _flag), ("minimum", _real),
            ("exclusiveMinimum", _flag), ("maxLength", _whole), ("minLength", _whole), ("pattern", _text),
            ("maxItems", _whole), ("minItems", _whole), ("uniqueItems", _flag), ("maxProperties", _whole),
            ("minProperties", _whole), ("required", _TEXTS), ("enum", _each(_any)),
            ("additionalProperties", _additional), ("type", _type),
            ("items", _items), ("allOf", _SCHEMAS), ("properties", _map(_of("Schema"))),
            ("discriminator", _text), ("readOnly", _flag),
        )
        | {"externalDocs": (29, _of("ExternalDocs")), "example": (30, _any)},
        31,
    ),
    "ExternalDocs": (_number_fields(("description", _text), ("url", _text)), 3),
}  # fmt: skip

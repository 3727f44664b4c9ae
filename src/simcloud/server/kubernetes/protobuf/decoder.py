"""Decodes protobuf to an object in the JSON form that Go would print.

So the result has a zero value exactly where Go's JSON encoder writes it: ``containerPort: 0``
but no ``hostPort: 0``, ``status: {}``, null for a missing list without omitempty. Unknown fields are
skipped, as the genuine server does.
"""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.kubernetes.api import BadRequest, Object
from simcloud.server.kubernetes.protobuf import wire
from simcloud.server.kubernetes.protobuf.shapes import NUMBERS, READERS, read_text
from simcloud.server.kubernetes.protobuf.tables import Field, Message, message, message_of
from simcloud.server.kubernetes.protobuf.unions import collapse

MAGIC = b"k8s\0"
MAX_DEPTH = 100
MAX_VALUES = 500_000
"""Two bytes make a container with all its zero values: without a limit, a body makes a huge object."""

_MAY_BE_EMPTY = frozenset({"string", "bytes", "bool", "int32", "int64", "double", "strings"})

Kind = tuple[str, str, str]
"""Group, version, kind."""


def decode(body: bytes, expected: Kind | None = None) -> Object:
    """Return the object in a body.

    ``expected`` is the kind that the path takes: it fills in what the envelope leaves out, and errors
    are worded as the server words them for that path. Raises ``BadRequest`` for anything that is no
    object of a built-in kind.
    """
    named: Kind | None = None
    try:
        api_version, kind, raw = _envelope(body)
        named = _read_kind(api_version, kind, expected)
        return _object(named, raw)
    except BadRequest as error:
        raise BadRequest(_format_error(error.message, body, named, expected)) from None


def _envelope(body: bytes) -> tuple[str, str, bytes]:
    """apiVersion, kind and the object's own message."""
    if not body:
        raise BadRequest("empty data")
    if not body.startswith(MAGIC):
        magic = " ".join(map(str, MAGIC))
        raise BadRequest(f"provided data does not appear to be a protobuf message, expected prefix [{magic}]")
    if body == MAGIC:
        raise BadRequest("empty body")
    found = _read_fields(body[len(MAGIC) :], "Unknown", {1: "TypeMeta", 2: "Raw"})
    names = _read_fields(found[1], "TypeMeta", {1: "APIVersion", 2: "Kind"})
    return read_text(names[1]), read_text(names[2]), found[2]


def _read_fields(data: bytes, name: str, wanted: dict[int, str]) -> dict[int, bytes]:
    """Return the wanted length-delimited fields; a missing one is empty."""
    found = dict.fromkeys(wanted, b"")
    for number, wire_type, value in wire.fields(data, name):
        if number in wanted:
            if not isinstance(value, bytes) or wire_type != wire.COUNTED:
                raise _wrong_type(wire_type, wanted[number])
            found[number] = value
    return found


def _read_kind(api_version: str, kind: str, expected: Kind | None) -> Kind:
    group, _, version = api_version.rpartition("/")
    if expected is not None:
        kind = kind or expected[2]
        group, version = (group, version) if version else expected[:2]
    for missing, what in ((kind, "Kind"), (version, "apiVersion")):
        if not missing:
            quoted = [msgspec.json.encode(text).decode() for text in (api_version, kind)]
            shown = f"runtime.TypeMeta{{APIVersion:{quoted[0]}, Kind:{quoted[1]}}}"
            raise BadRequest(f"Object '{what}' is missing in '{shown}'")
    return group, version, kind


def _object(named: Kind, raw: bytes) -> Object:
    group, version, kind = named
    api_version = f"{group}/{version}" if group else version
    table = message_of(group, version, kind)
    if table is None:
        raise BadRequest(
            f'no kind "{kind}" is registered for version "{api_version}" in scheme "pkg/api/legacyscheme/scheme.go:30"'
        )
    return {"kind": kind, "apiVersion": api_version, **_Reading().message(raw, table, 0)}


def _format_error(why: str, body: bytes, named: Kind | None, expected: Kind | None) -> str:
    """Format the error message for a path that takes one kind."""
    if expected is None:
        return why
    if named is not None:
        return f'{named[2]} in version "{named[1]}" cannot be handled as a {expected[2]}: {why}'
    start = body[:30]
    shown = read_text(start) if start[:1] == b"{" else start.hex()
    more = " ..." if len(body) > len(start) else ""
    return f"the object provided is unrecognized (must be of type {expected[2]}): {why} ({shown or '<empty>'}{more})"


def _wrong_type(wire_type: int, go_name: str) -> BadRequest:
    return BadRequest(f"proto: wrong wireType = {wire_type} for field {go_name}")


class _Reading:
    """Decodes one body and counts the values, to limit them."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def message(self, data: bytes, table: Message, depth: int) -> Any:
        """Return a message as JSON shows it."""
        if depth > MAX_DEPTH:
            raise BadRequest("exceeded max depth")
        self._spend(len(table.fields))
        found: dict[int, list[Any]] = {}
        for number, wire_type, value in wire.fields(data, table.name):
            field = table.by_number.get(number)
            values = [] if field is None else _read_values(field, wire_type, value)
            self._spend(1 + len(values))
            if values:
                found.setdefault(number, []).extend(values)
        shown: dict[str, Any] = {}
        for field in table.fields:
            self._show(shown, field, found.get(field.number), depth)
        return collapse(table.name, shown)

    def _spend(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise BadRequest("the object holds too many values")

    def _show(self, shown: dict[str, Any], field: Field, found: list[Any] | None, depth: int) -> None:
        """Put a field where JSON shows it, unless JSON leaves it out."""
        if found is None and field.nullable:
            if not field.omit_empty:
                shown[field.name] = None
            return
        values = found or [_zero(field)]
        if field.mapped:
            pairs = dict(self._pair(field, entry, depth) for entry in values)
            shown[field.name] = dict(sorted(pairs.items()))
        elif field.repeated:
            shown[field.name] = [self._value(field, item, depth) for item in values]
        else:
            # A message that comes in parts is the message of the parts joined.
            one = b"".join(values) if field.shape == "message" else values[-1]
            value = self._value(field, one, depth)
            if not field.name:
                shown.update(value)
            elif not _is_omitted(field, value):
                shown[field.name] = value

    def _pair(self, field: Field, entry: bytes, depth: int) -> tuple[str, Any]:
        key, value = b"", _zero(field)
        for number, wire_type, part in wire.fields(entry, field.go_name + "Entry"):
            if number == 1 and isinstance(part, bytes):
                key = part
            elif number == 2 and isinstance(part, bytes):
                value = part
            elif number in {1, 2}:
                raise _wrong_type(wire_type, field.go_name)
        shown = self._value(field, value, depth)
        return read_text(key), [] if shown is None and field.shape == "strings" else shown

    def _value(self, field: Field, value: Any, depth: int) -> Any:
        if field.shape == "message":
            return self.message(value, message(field.message), depth + 1)
        reader = NUMBERS.get(field.shape) or READERS[field.shape]
        return reader(value)


def _read_values(field: Field, wire_type: int, value: wire.Value) -> list[Any]:
    """Return the values of a field on the wire: one, or those of a packed list."""
    is_number = field.shape in NUMBERS and not field.mapped
    if is_number and field.repeated and isinstance(value, bytes) and wire_type == wire.COUNTED:
        return list(wire.varints(value))
    expected = wire.VARINT if is_number else wire.FIXED64 if field.shape == "double" else wire.COUNTED
    if wire_type != expected:
        raise _wrong_type(wire_type, field.go_name)
    return [value]


def _zero(field: Field) -> wire.Value:
    return 0 if field.shape in NUMBERS and not field.mapped else b""


def _is_omitted(field: Field, value: Any) -> bool:
    """Return whether Go's JSON omits a value. A struct is never empty to Go, so ``{}`` and a null time stay."""
    if field.pointer:
        return False
    if field.omit_zero and value is None:
        return True
    return field.omit_empty and field.shape in _MAY_BE_EMPTY and not value

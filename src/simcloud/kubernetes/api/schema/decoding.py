"""Decoding of request data into objects, as the genuine server decodes and re-encodes them.

``read_body`` reads the data of a request; ``decode`` makes it an object, also for the result of a patch. Values that
do not fit raise ``BadRequest`` with the server's message. Unknown and duplicate fields are problems, which the caller
ignores, sends as warnings or refuses (``strict``), according to the request's ``fieldValidation``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct, field

from simcloud.golang import quote
from simcloud.kubernetes.api.errors import BadRequest, Invalid
from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.schema import builtin, structural
from simcloud.kubernetes.api.schema.bodies import parse_json
from simcloud.kubernetes.api.schema.plans import Notes, Where, cannot_unmarshal, struct_reader, word_for
from simcloud.kubernetes.api.schema.scalars import Unreadable
from simcloud.kubernetes.api.schema.types import Schema

_SCHEME = "pkg/api/legacyscheme/scheme.go:30"
_SUMMARY_BYTES = 30
_FIND_KIND = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
)


class CannotDecode(BadRequest):
    """A body that does not fit its kind.

    Patches word this differently: ``why`` is the decoder's own sentence, ``conversion`` that of the converter which
    strategic merge patches go through.
    """

    def __init__(self, message: str, why: str, conversion: str = "") -> None:
        super().__init__(message)
        self.why = why
        self.conversion = conversion or why


class Decoded(Struct):
    """An object, and what of its data was unknown or stood twice."""

    obj: Object
    problems: list[str] = field(default_factory=list)
    """Sentences such as ``unknown field "spec.foo"``; each is a warning."""


def read_body(body: bytes, kind: str, media_type: str = "application/json") -> tuple[Any, list[str]]:
    """The data of a body that should hold a kind, and what stands twice in it."""
    if media_type.partition(";")[0].strip() in ("application/yaml", "application/x-yaml", "text/yaml"):
        from simcloud.kubernetes.api.schema.yaml_bodies import parse_yaml

        try:
            return parse_yaml(body)
        except BadRequest as fault:
            raise _make_unrecognized_error(kind, fault.message, body) from None
    try:
        return parse_json(body)
    except BadRequest as fault:
        raise _make_unrecognized_error(kind, _no_kind(fault.message), body) from None


def decode(data: Any, resource: Resource) -> Decoded:
    """The object that data is, in a resource's kind."""
    if resource.custom is not None:
        decoded = _decode_custom(data, resource)
    else:
        decoded = decode_typed(data, resource.schema, resource.kind, resource.version)
    decoded.obj = {"kind": resource.kind, "apiVersion": resource.api_version, **_rest(decoded.obj)}
    return decoded


def decode_typed(data: Any, schema: Schema, kind: str, version: str) -> Decoded:
    """A built-in type that need not be a resource: a Scale, an Eviction, DeleteOptions.

    Of a type without a definition nothing is known: what is given stays.
    """
    if not schema.name:
        return Decoded(copy(data) if isinstance(data, dict) else {})
    decoded = _read_struct(schema.name, {} if data is None else data, None, kind, version)
    if "metadata" in schema.fields:
        decoded.obj.setdefault("metadata", {})
    return decoded


def decode_part(data: Object, resource: Resource, part: str) -> Decoded:
    """The spec or the status of a built-in kind, as it stands in an object that is decoded as a whole."""
    schema = resource.schema
    where = (None, part, schema.name.rpartition(".")[2])
    return _read_struct(schema.fields[part].name, data, where, resource.kind, resource.version)


def _read_struct(name: str, data: Any, where: Where, kind: str, version: str) -> Decoded:
    notes = Notes()
    try:
        obj = struct_reader(name)(data, where, notes)
    except Unreadable as fault:
        raise make_refusal(kind, version, str(fault)) from None
    if notes.error:
        refusal = make_refusal(kind, version, notes.error)
        refusal.conversion = notes.conversion_error
        raise refusal
    return Decoded(obj, list(notes.problems))


def _decode_custom(data: Any, resource: Resource) -> Decoded:
    if not isinstance(data, dict):
        sentence = cannot_unmarshal(word_for(data), None, "map[string]interface {}")
        raise make_refusal(resource.kind, resource.version, sentence)
    notes = Notes()
    obj = structural.prune(data, resource.schema, notes)
    try:
        metadata = structural.read_metadata(obj.get("metadata"), notes)
    except Unreadable as fault:
        raise make_refusal(resource.kind, resource.version, str(fault)) from None
    if notes.error:
        raise make_refusal(resource.kind, resource.version, notes.error)
    obj["metadata"] = metadata
    return Decoded(obj, list(notes.problems))


def _rest(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}


def strict(problems: Sequence[str], kind: str, version: str) -> CannotDecode:
    """The refusal of ``fieldValidation=Strict``."""
    return make_refusal(kind, version, f"strict decoding error: {', '.join(problems)}")


def make_refusal(kind: str, version: str, why: str, wanted: str = "") -> CannotDecode:
    """A body of a known kind that cannot be used."""
    return CannotDecode(
        f"{kind} in version {quote(version)} cannot be handled as a {wanted or kind}: {why}", why
    )


def check_kind(data: Any, resource: Resource, body: bytes = b"") -> None:
    """Refuse data whose apiVersion and kind are not the resource's. What data leaves out is taken from the resource."""
    if (
        isinstance(data, dict)
        and data.get("kind") == resource.kind
        and data.get("apiVersion") == resource.api_version
    ):
        return
    group, version, kind = _parse_kind(data, resource, body)
    if (group, version, kind) == (resource.group, resource.version, resource.kind):
        return
    if resource.custom is not None:
        _check_custom_kind(group, version, kind, resource, data)
        return
    written = _group_version(group, version)
    if (group, version, kind) not in builtin.kinds():
        why = f"no kind {quote(kind)} is registered for version {quote(written)} in scheme {quote(_SCHEME)}"
        raise make_refusal(kind, version, why, resource.kind)
    if kind != resource.kind:
        internal = resource.group.partition(".")[0] or "core"
        why = f"converting ({version}.{kind}) to ({internal}.{resource.kind}): unknown conversion"
        raise make_refusal(kind, version, why, resource.kind)
    raise _other_version(written, resource)


def _parse_kind(data: Any, resource: Resource, body: bytes) -> tuple[str, str, str]:
    if not isinstance(data, dict):
        if data is None:
            data = {}
        else:
            why = _no_kind(f"json: cannot unmarshal {word_for(data)} into Go value of type {_FIND_KIND}")
            raise _make_unrecognized_error(resource.kind, why, body)
    fields = {}
    for key in ("apiVersion", "kind"):
        value = data.get(key)
        if value is not None and not isinstance(value, str):
            why = f"json: cannot unmarshal {word_for(value)} into Go struct field .{key} of type string"
            raise _make_unrecognized_error(resource.kind, _no_kind(why), body)
        fields[key] = value or ""
    if fields["apiVersion"].count("/") > 1:
        why = f"unexpected GroupVersion string: {fields['apiVersion']}"
        raise _make_unrecognized_error(resource.kind, why, body)
    if resource.custom is not None and not fields["kind"]:
        raise _make_unrecognized_error(
            resource.kind, f"Object 'Kind' is missing in '{_text(data, body)}'", body
        )
    group, _, version = fields["apiVersion"].rpartition("/")
    if not version and group in ("", resource.group) and resource.custom is None:
        group, version = resource.group, resource.version
    return group, version, fields["kind"] or resource.kind


def _check_custom_kind(group: str, version: str, kind: str, resource: Resource, data: Any) -> None:
    if (group, version) != (resource.group, resource.version):
        raise _other_version(_group_version(group, version), resource)
    name = at(data, "metadata", "name", default="")
    wrong = invalid("kind", kind, f"must be {resource.kind}")
    raise Invalid(resource.group, resource.kind, name if isinstance(name, str) else "", [wrong])


def _group_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version


def _other_version(written: str, resource: Resource) -> BadRequest:
    return BadRequest(
        f"the API version in the data ({written}) does not match the expected API version ({resource.api_version})"
    )


def _no_kind(sentence: str) -> str:
    return f"couldn't get version/kind; json parse error: {sentence}"


def _make_unrecognized_error(kind: str, why: str, body: bytes) -> BadRequest:
    return BadRequest(
        f"the object provided is unrecognized (must be of type {kind}): {why} ({_summary(body)})"
    )


def _summary(body: bytes) -> str:
    """The start of a body, in hex unless it looks like JSON."""
    if not body:
        return "<empty>"
    start = body[:_SUMMARY_BYTES]
    shown = start.decode(errors="replace") if body.startswith(b"{") else start.hex()
    return f"{shown} ..." if len(body) > _SUMMARY_BYTES else shown


def _text(data: Any, body: bytes) -> str:
    return (body or msgspec.json.encode(data)).decode(errors="replace")

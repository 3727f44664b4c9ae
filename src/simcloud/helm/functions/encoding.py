"""Functions that encode and decode YAML, JSON and base64, and digests."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

import msgspec

from simcloud.golang import Int, format_json
from simcloud.golang.template import CallError, Function, GoObject, absent, bad_base64_byte
from simcloud.helm.goyaml import YamlError, as_float, read_yaml, write_yaml
from simcloud.kubernetes.api.schema import go_json

_S = "string"
_HTML = (("\\u0026", "&"), ("\\u003c", "<"), ("\\u003e", ">"))
DEEPEST = 200


def plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON can hold it: no value is null, structs are maps, bytes are base64."""
    if depth > DEEPEST:
        raise CallError("json: unsupported value: encountered a cycle")
    if absent(value):
        return None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {str(name): plain(held, depth + 1) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(held, depth + 1) for held in value]
    if isinstance(value, GoObject):
        return value.go_text() if value.go_type == "time.Time" else plain(value.go_fields(), depth + 1)
    return int(value) if type(value) is Int else value


def to_yaml(value: Any) -> str:
    """YAML without the line feed at its end; nothing if it cannot be written."""
    return write_yaml(plain(value)).removesuffix("\n")


def _from_yaml(text: str) -> dict[str, Any]:
    try:
        found = read_yaml(text)
    except YamlError as error:
        return {"Error": f"error converting YAML to JSON: {error}"}
    if found is None:
        return {}
    if not isinstance(found, dict):
        return {"Error": _cannot(found, "map[string]interface {}")}
    return found


def _from_yaml_array(text: str) -> list[Any]:
    try:
        found = read_yaml(text)
    except YamlError as error:
        return [f"error converting YAML to JSON: {error}"]
    if found is None:
        return []
    return found if isinstance(found, list) else [_cannot(found, "[]interface {}")]


def _cannot(value: Any, wanted: str) -> str:
    return (
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        f"{json_kind(value)} into Go value of type {wanted}"
    )


def json_kind(value: Any) -> str:
    """How Go's JSON reader calls a value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    return "object" if isinstance(value, dict) else "array" if isinstance(value, list) else "string"


def _json(text: str) -> Any:
    return as_float(msgspec.json.decode(text.encode("utf-8", "replace")))


def _from_json(text: str) -> dict[str, Any]:
    try:
        found = _json(text)
    except (msgspec.DecodeError, RecursionError):
        return {"Error": _bad_json(text)}
    if found is None:
        return {}
    if not isinstance(found, dict):
        return {
            "Error": f"json: cannot unmarshal {json_kind(found)} into Go value of type map[string]interface {{}}"
        }
    return found


def _from_json_array(text: str) -> list[Any]:
    try:
        found = _json(text)
    except (msgspec.DecodeError, RecursionError):
        return [_bad_json(text)]
    if isinstance(found, list):
        return found
    return [f"json: cannot unmarshal {json_kind(found)} into Go value of type []interface {{}}"]


def _bad_json(text: str) -> str:
    return go_json.find_syntax_error(text.encode("utf-8", "replace")) or ""


def _to_json(value: Any) -> str:
    return format_json(plain(value))


def _raw_json(value: Any) -> str:
    text = _to_json(value)
    for escaped, letter in _HTML:
        text = text.replace(escaped, letter)
    return text


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _b64dec(text: str) -> str:
    packed = text.replace("\n", "").replace("\r", "")
    try:
        return base64.b64decode(packed, validate=True).decode("utf-8", "surrogateescape")
    except (binascii.Error, ValueError):
        return f"illegal base64 data at input byte {bad_base64_byte(packed)}"


ENCODING: dict[str, Function] = {
    "toYaml": Function(to_yaml, 1, 1),
    "mustToYaml": Function(to_yaml, 1, 1),
    "fromYaml": Function(_from_yaml, 1, 1, (_S,)),
    "fromYamlArray": Function(_from_yaml_array, 1, 1, (_S,)),
    "toJson": Function(_to_json, 1, 1),
    "mustToJson": Function(_to_json, 1, 1),
    "toPrettyJson": Function(lambda value: format_json(plain(value), indent=2), 1, 1),
    "mustToPrettyJson": Function(lambda value: format_json(plain(value), indent=2), 1, 1),
    "toRawJson": Function(_raw_json, 1, 1),
    "mustToRawJson": Function(_raw_json, 1, 1),
    "fromJson": Function(_from_json, 1, 1, (_S,)),
    "mustFromJson": Function(_from_json, 1, 1, (_S,)),
    "fromJsonArray": Function(_from_json_array, 1, 1, (_S,)),
    "b64enc": Function(lambda text: base64.b64encode(_bytes(text)).decode(), 1, 1, (_S,)),
    "b64dec": Function(_b64dec, 1, 1, (_S,)),
    "sha1sum": Function(lambda text: hashlib.sha1(_bytes(text)).hexdigest(), 1, 1, (_S,)),
    "sha256sum": Function(lambda text: hashlib.sha256(_bytes(text)).hexdigest(), 1, 1, (_S,)),
}

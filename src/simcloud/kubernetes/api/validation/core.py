"""The rules of the small kinds of the core group: ConfigMap, Secret, Namespace, ServiceAccount, Binding."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, NoReturn

from simcloud.kubernetes.api.field_errors import (
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.validation.common import Errors
from simcloud.kubernetes.api.validation.names import config_map_key, qualified_name, size
from simcloud.kubernetes.api.validation.registry import validates, warns

_LIMIT_BYTES = 1024 * 1024
_FROZEN = "field is immutable when `immutable` is set"
_WHOLE_OBJECT = "[]"
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
_JSON_KEYS = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


@validates("", "ConfigMap")
def config_map(new: Object, old: Object | None) -> Errors:
    """The rules of a ConfigMap."""
    data, binary = new.get("data") or {}, new.get("binaryData") or {}
    errors = _frozen(new, old, ("data", "binaryData")) if old is not None else []
    total = 0
    for key, value in data.items():
        errors += _key(f"data[{key}]", key)
        if key in binary:
            errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
        total += size(value)
    for key, value in binary.items():
        errors += _key(f"binaryData[{key}]", key)
        total += len(decode_base64(value))
    if total > _LIMIT_BYTES:
        errors.append(too_long(_WHOLE_OBJECT, _LIMIT_BYTES))
    return errors


@validates("", "Secret")
def secret(new: Object, old: Object | None) -> Errors:
    """The rules of a Secret."""
    errors = []
    if old is not None:
        if new.get("type", "") != old.get("type", ""):
            errors.append(invalid("type", new.get("type", ""), "field is immutable"))
        errors += _frozen(new, old, ("data",))
    total = 0
    for key, value in (new.get("data") or {}).items():
        errors += _key(f"data[{key}]", key)
        total += len(decode_base64(value))
    if total > _LIMIT_BYTES:
        errors.append(too_long("data", _LIMIT_BYTES))
    return errors + _secret_type(new)


@warns("", "Secret")
def secret_warnings(new: Object, old: Object | None) -> list[str]:
    """A TLS Secret without a certificate or a key in it is warned of."""
    if new.get("type") != "kubernetes.io/tls":
        return []
    data = new.get("data") or {}
    for key, wanted, where in (
        ("tls.crt", "CERTIFICATE", "certificate"),
        ("tls.key", "PRIVATE KEY", "key"),
    ):
        message = _pem_fault(decode_base64(data.get(key, "")), wanted, where)
        if message:
            return [message]
    return []


@validates("", "Namespace")
def namespace(new: Object, old: Object | None) -> Errors:
    """The rules of a Namespace: those of its finalizers, when it is made."""
    if old is not None:
        return []
    return _finalizers(new, indexed=False)


def namespace_finalize(new: Object, old: Object) -> Errors:
    """The rules of a Namespace's ``finalize`` subresource."""
    return _finalizers(new, indexed=True)


@validates("", "Binding")
def binding(new: Object, old: Object | None) -> Errors:
    """The rules of a pod's Binding to a node."""
    target = new.get("target") or {}
    errors = []
    if target.get("kind", "") not in ("", "Node"):
        errors.append(not_supported("target.kind", target["kind"], ["Node", "<empty>"]))
    if not target.get("name"):
        errors.append(required("target.name"))
    return errors


def decode_base64(value: str) -> bytes:
    """The bytes behind a base64 text; none if it is no base64."""
    try:
        return base64.b64decode(value)
    except (binascii.Error, ValueError):
        return b""


def _key(path: str, key: str) -> Errors:
    return [invalid(path, key, message) for message in config_map_key(key)]


def _frozen(new: Object, old: Object, fields: tuple[str, ...]) -> Errors:
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [forbidden("immutable", _FROZEN)]
    changed = [field for field in fields if (new.get(field) or {}) != (old.get(field) or {})]
    return errors + [forbidden(field, _FROZEN) for field in changed]


def _secret_type(new: Object) -> Errors:
    data: dict[str, Any] = new.get("data") or {}
    kind = new.get("type", "")
    if kind == "kubernetes.io/service-account-token":
        name = "kubernetes.io/service-account.name"
        given = at(new, "metadata", "annotations", name)
        return [] if given else [required(f"metadata.annotations[{name}]")]
    if kind in _JSON_KEYS:
        return _json_key(data, _JSON_KEYS[kind])
    if kind == "kubernetes.io/basic-auth":
        keys = ["username", "password"]
        return [] if any(key in data for key in keys) else [required(f"data[{key}]") for key in keys]
    if kind == "kubernetes.io/ssh-auth":
        return [] if data.get("ssh-privatekey") else [required("data[ssh-privatekey]")]
    if kind == "kubernetes.io/tls":
        return [required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data]
    return []


def _json_key(data: dict[str, Any], key: str) -> Errors:
    if key not in data:
        return [required(f"data[{key}]")]
    message = _json_fault(decode_base64(data[key]).decode(errors="replace"))
    return [invalid(f"data[{key}]", "<secret contents redacted>", message)] if message else []


_JSON_FAULTS = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
}


def _json_fault(text: str) -> str:
    """Why this is no JSON object, as Go words it; empty if it is one."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as fault:
        if fault.pos >= len(text) or fault.msg.startswith("Unterminated"):
            return "unexpected end of JSON input"
        where = _JSON_FAULTS.get(fault.msg, "after object key:value pair")
        return f"invalid character {_go_character(text[fault.pos])} {where}"
    except RecursionError:
        return "exceeded max depth"
    except ValueError:
        return "invalid character 'N' looking for beginning of value"
    if isinstance(value, dict) or value is None:
        return ""
    kinds = {str: "string", bool: "bool", int: "number", float: "number", list: "array"}
    return f"json: cannot unmarshal {kinds[type(value)]} into Go value of type map[string]interface {{}}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _go_character(char: str) -> str:
    if char == "'":
        return r"'\''"
    if char == '"':
        return "'\"'"
    return f"'{char}'"


_PEM_START = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,64})-----")


def _pem_fault(content: bytes, wanted: str, where: str) -> str:
    kinds = [match.decode() for match in _PEM_START.findall(content)]
    if any(kind.endswith(wanted) for kind in kinds):
        return ""
    if not kinds:
        return f"tls: failed to find any PEM data in {where} input"
    if where == "certificate" and len(kinds) == 1 and kinds[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
            "PEM inputs may have been switched"
        )
    if where == "key" and kinds == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    block = (
        '"CERTIFICATE" PEM block' if where == "certificate" else 'PEM block with type ending in "PRIVATE KEY"'
    )
    skipped = f"[{' '.join(kinds)}]"
    return f"tls: failed to find {block} in {where} input after skipping PEM blocks of the following types: {skipped}"


def _finalizers(new: Object, indexed: bool) -> Errors:
    errors: Errors = []
    for index, finalizer in enumerate(at(new, "spec", "finalizers", default=None) or []):
        path = f"spec.finalizers[{index}]" if indexed else "spec.finalizers"
        errors += [invalid(path, finalizer, message) for message in qualified_name(finalizer)]
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            message = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(path, finalizer, message))
    return errors

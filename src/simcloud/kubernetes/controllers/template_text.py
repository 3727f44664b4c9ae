"""A pod template as Go's debugging printer writes it: the text whose hash names ReplicaSets.

The genuine controllers print the whole Go struct, empty fields and all, and hash that; printed alike,
the same template gets the same ``pod-template-hash`` as on a genuine v1.36 cluster. The types and
the order of their fields come from the table of Go's declarations. Volumes of kinds that have long left
Kubernetes (rbd, iscsi and the like) are printed under guessed names; their hashes hold here only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.schema.go_fields import GoField, table

_PACKAGES: Final = ("io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1.")
_NAMES: Final = {
    "metadata": "ObjectMeta",
    "serviceAccount": "DeprecatedServiceAccount",
    "cephfs": "CephFS",
    "storageos": "StorageOS",
    "gmsaCredentialSpecName": "GMSACredentialSpecName",
    "gmsaCredentialSpec": "GMSACredentialSpec",
}
_INITIALS: Final = frozenset(
    ("api", "aws", "csi", "dns", "fc", "fs", "gce", "grpc", "http", "ip", "iscsi", "nfs", "os")
) | frozenset(("rbd", "se", "tcp", "tty", "uid"))
_EMBEDDED: Final = {
    # The struct that is embedded, and how many fields it has, from which on.
    "v1.Probe": ("ProbeHandler", 0, 4),
    "v1.Volume": ("VolumeSource", 1, None),
    "v1.ConfigMapKeySelector": ("LocalObjectReference", 0, 1),
    "v1.SecretKeySelector": ("LocalObjectReference", 0, 1),
    "v1.ConfigMapEnvSource": ("LocalObjectReference", 0, 1),
    "v1.SecretEnvSource": ("LocalObjectReference", 0, 1),
    "v1.ConfigMapVolumeSource": ("LocalObjectReference", 0, 1),
    "v1.ConfigMapProjection": ("LocalObjectReference", 0, 1),
    "v1.SecretProjection": ("LocalObjectReference", 0, 1),
}
_NO_TIME: Final = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_QUANTITY: Final = re.compile(r"(-?)([0-9]+)(?:([KMGTPE])i|([numkMGTPE]?)|[eE]([+-]?[0-9]+))\Z")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def template_text(template: Object) -> str:
    """The text of a PodTemplateSpec."""
    return _format_typed(template, "v1.PodTemplateSpec")


def _format_typed(value: Any, go_type: str) -> str:
    return f"({go_type}){_bare(value, go_type)}"


def _bare(value: Any, go_type: str) -> str:
    """A value without its type, as items of lists and maps stand."""
    if go_type.startswith("*"):
        return "<nil>" if value is None else _bare(value, go_type[1:])
    if go_type == "v1.ResourceList":
        go_type = "map[v1.ResourceName]resource.Quantity"
    if go_type.startswith("[]"):
        return f"[{' '.join(_bare(item, go_type[2:]) for item in value)}]" if value else "<nil>"
    if go_type.startswith("map["):
        held = go_type.partition("]")[2]
        items = (f"{key}:{_bare(value[key], held)}" for key in sorted(value or ()))
        return f"map[{' '.join(items)}]" if value else "<nil>"
    if go_type == "v1.Time":
        return _NO_TIME
    if go_type == "intstr.IntOrString":
        return _int_or_string(value)
    if go_type == "resource.Quantity":
        return _quantity(str(value))
    fields = _fields(go_type)
    if fields:
        return _struct(value or {}, go_type, fields)
    return _scalar(value, go_type)


def _scalar(value: Any, go_type: str) -> str:
    if go_type == "bool":
        return "true" if value else "false"
    if go_type.startswith(("int", "uint")):
        return str(value or 0)
    return str(value or "")


def _struct(value: Object, go_type: str, fields: Mapping[str, GoField]) -> str:
    written = [
        _format_field(name, field, value[name]) if name in value else absent
        for (name, field), absent in zip(fields.items(), _list_absent_fields(go_type), strict=True)
    ]
    if go_type in _EMBEDDED:
        name, first, count = _EMBEDDED[go_type]
        last = len(written) if count is None else first + count
        inner = f"{name}:(v1.{name}){_braces(written[first:last])}"
        written = [*written[:first], inner, *written[last:]]
    return _braces(written)


def _format_field(name: str, field: GoField, value: Any) -> str:
    return f"{_go_name(name)}:{_format_typed(value, '*' * field.pointer + field.type)}"


@cache
def _list_absent_fields(go_type: str) -> tuple[str, ...]:
    """The fields of a struct without values, as most fields are."""
    return tuple(_format_field(name, field, None) for name, field in _fields(go_type).items())


def _braces(written: Iterable[str]) -> str:
    return f"{{{' '.join(written)}}}"


def _int_or_string(value: Any) -> str:
    number, text = (value, "") if isinstance(value, int) else (0, value or "")
    return f"{{Type:(intstr.Type){1 if text else 0} IntVal:(int32){number} StrVal:(string){text}}}"


def _quantity(text: str) -> str:
    """An amount as Go holds it; it remembers its text only where that is surely the canonical one."""
    match = _QUANTITY.match(text)
    if match is None:
        return text
    sign, digits, binary, decimal, exponent = match.groups()
    scale, factor, family = 0, 1, "DecimalSI"
    remembered = not digits.endswith("000")
    if binary:
        factor, family = 1024 ** ("KMGTPE".index(binary) + 1), "BinarySI"
        remembered = int(digits) & 7 != 0
    elif exponent:
        scale, family = int(exponent), "DecimalExponent"
        remembered = remembered and scale % 3 == 0
    else:
        scale = _DECIMAL[decimal]
    if text == "0":
        remembered, scale = True, 0
    amount = f"{{value:(int64){sign}{int(digits) * factor} scale:(resource.Scale){scale}}}"
    return (
        f"{{i:(resource.int64Amount){amount} d:(resource.infDecAmount){{Dec:(*inf.Dec)<nil>}}"
        f" s:(string){text if remembered else ''} Format:(resource.Format){family}}}"
    )


@cache
def _fields(go_type: str) -> Mapping[str, GoField]:
    package, _, name = go_type.partition(".")
    if package != "v1":
        return {}
    known = table()
    return next((known[prefix + name] for prefix in _PACKAGES if prefix + name in known), {})


@cache
def _go_name(name: str) -> str:
    """The name of a field in Go, whose initialisms are in capitals."""
    if name in _NAMES:
        return _NAMES[name]
    match = re.match(r"[a-z]+", name)
    first = match[0] if match else name
    head = first.upper() if first in _INITIALS else first[:1].upper() + first[1:]
    return head + name[len(first) :]

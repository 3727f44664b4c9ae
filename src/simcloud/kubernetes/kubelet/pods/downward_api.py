"""The downward API: fields of a pod for its containers."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from simcloud.golang import quote
from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.objects import Object

_KEYED = re.compile(r"metadata\.(labels|annotations)\['(.*)'\]\Z")

_UNITS: Final = {"cpu": Fraction(1), "memory": Fraction(1)}


class NoSuchField(Exception):
    """A path or a resource that the downward API does not have."""


def field(pod: Object, path: str, status: Object) -> str:
    """A field of a pod; ``status`` is the newest there is, which the API may not have yet."""
    metadata, spec = pod["metadata"], pod["spec"]
    keyed = _KEYED.match(path)
    if keyed is not None:
        return str((metadata.get(keyed.group(1)) or {}).get(keyed.group(2), ""))
    if path in ("metadata.labels", "metadata.annotations"):
        return _lines(metadata.get(path.partition(".")[2]) or {})
    plain = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.hostIP": status.get("hostIP", ""),
        "status.hostIPs": ",".join(each["ip"] for each in status.get("hostIPs") or ()),
        "status.podIP": status.get("podIP", ""),
        "status.podIPs": ",".join(each["ip"] for each in status.get("podIPs") or ()),
    }
    if path not in plain:
        raise NoSuchField(f"unsupported fieldPath: {path}")
    return str(plain[path])


def resource(container: Object, reference: Object, allocatable: Object) -> str:
    """A container's request or limit; a limit that is not set is what the node has."""
    kind, _, name = reference["resource"].partition(".")
    given = (container.get("resources") or {}).get(kind) or {}
    amount = given.get(name)
    if amount is None and kind == "limits":
        amount = allocatable.get(name)
    divisor = quantity.parse(reference.get("divisor") or "0") or _UNITS.get(name, Fraction(1))
    value = quantity.parse(amount or "0") / divisor
    return str(-((-value.numerator) // value.denominator))


def _lines(mapping: dict[str, str]) -> str:
    return "\n".join(f"{key}={quote(mapping[key])}" for key in sorted(mapping))

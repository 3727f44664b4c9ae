"""The value of a container's environment variable: described, or resolved."""

from __future__ import annotations

import base64
import binascii
from math import ceil

from simcloud.golang import quote
from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.session import Kubectl
from simcloud.kubernetes.api import ApiError, Object, at, quantity
from simcloud.kubernetes.api.validation import qualified_name


def reference(source: Object) -> str:
    """A source in words."""
    if one := source.get("configMapKeyRef"):
        return f"configmap {one.get('name', '')}, key {one.get('key', '')}"
    if one := source.get("secretKeyRef"):
        return f"secret {one.get('name', '')}, key {one.get('key', '')}"
    if one := source.get("fieldRef"):
        return f"field path {one.get('fieldPath', '')}"
    if one := source.get("resourceFieldRef"):
        container = f"{one['containerName']}/" if one.get("containerName") else ""
        return f"resource field {container}{one.get('resource', '')}"
    return "invalid valueFrom"


async def resolve(kubectl: Kubectl, source: Object, obj: Object, container: Object) -> str:
    """The value of a source; ``KubectlError`` says why there is none."""
    if one := source.get("secretKeyRef"):
        found = await _data(kubectl, "secrets", one["name"])
        if one.get("key") in found:
            return _decode(found[one["key"]])
        raise KubectlError(f"key {one.get('key')} not found in secret {one['name']}")
    if one := source.get("configMapKeyRef"):
        found = await _data(kubectl, "configmaps", one["name"])
        if one.get("key") in found:
            return str(found[one["key"]])
        raise KubectlError(f"key {one.get('key')} not found in config map {one['name']}")
    if one := source.get("fieldRef"):
        return _field(obj, one.get("fieldPath", ""))
    if one := source.get("resourceFieldRef"):
        return _amount(one, container)
    raise KubectlError("invalid valueFrom")


async def _data(kubectl: Kubectl, plural: str, name: str) -> Object:
    connection = await kubectl.connect()
    try:
        found = await connection.get(connection.resource(plural), kubectl.namespace, name)
    except ApiError as error:
        raise KubectlError(error.message) from None
    return found.get("data") or {}


def _decode(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except binascii.Error:
        return ""


def _field(obj: Object, path: str) -> str:
    metadata = obj["metadata"]
    if path.endswith("']") and "['" in path:
        where, _, key = path.removesuffix("']").partition("['")
        if where not in ("metadata.annotations", "metadata.labels"):
            raise KubectlError(f'fieldPath "{path}" does not support subscript')
        if faults := qualified_name(key.lower() if where.endswith("annotations") else key):
            raise KubectlError(f"invalid key subscript in {path}: {';'.join(faults)}")
        return str(at(metadata, where.partition(".")[2], key, default=""))
    if path in ("metadata.annotations", "metadata.labels"):
        pairs = metadata.get(path.partition(".")[2]) or {}
        return "\n".join(f"{key}={quote(value)}" for key, value in sorted(pairs.items()))
    if path in ("metadata.name", "metadata.namespace", "metadata.uid"):
        return str(metadata.get(path.partition(".")[2], ""))
    raise KubectlError(f"unsupported fieldPath: {path}")


def _amount(selector: Object, container: Object) -> str:
    """A request or limit in units of the divisor, rounded up."""
    what = selector.get("resource", "")
    group, _, name = what.partition(".")
    plain = name in ("cpu", "memory", "ephemeral-storage") or name.startswith("hugepages-")
    if group not in ("limits", "requests") or not plain:
        raise KubectlError(f"Unsupported container resource : {what}")
    divisor = quantity.parse(selector.get("divisor") or "1") or 1
    amount = quantity.parse(at(container, "resources", group, name, default="0"))
    return str(ceil(amount / divisor))

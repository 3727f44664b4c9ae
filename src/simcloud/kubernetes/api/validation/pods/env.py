"""Environment variables of containers and where their values come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import (
    Errors,
    amount,
    amount_text,
    check_required,
    make_errors,
    text,
)
from simcloud.kubernetes.api.validation.names import (
    config_map_key,
    dns1123_subdomain,
    env_var_name,
    qualified_name,
    without_trailing_dash,
)

VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_ENV_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
    "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_KNOWN_FIELDS = (
    *VOLUME_FIELDS,
    *_ENV_FIELDS,
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
)
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("requests.hugepages-", "limits.hugepages-")
_BYTE_DIVISORS = (
    "1",
    *(f"1{unit}" for unit in ("k", "M", "G", "T", "P", "E")),
    *(f"1{unit}i" for unit in "KMGTPE"),
)
_DIVISORS = {"cpu": "cpu", "memory": "memory", "ephemeral-storage": "local ephemeral storage"}


def variables(path: str, given: list[Any]) -> Errors:
    """A container's ``env``."""
    errors: Errors = []
    for index, variable in enumerate(given):
        at = f"{path}[{index}]"
        errors += check_required(f"{at}.name", text(variable, "name"), env_var_name)
        if variable.get("valueFrom") is not None:
            errors += _value_from(f"{at}.valueFrom", variable)
    return errors


def sources(path: str, given: list[Any]) -> Errors:
    """A container's ``envFrom``."""
    errors: Errors = []
    for index, source in enumerate(given):
        at = f"{path}[{index}]"
        prefix = text(source, "prefix")
        if prefix:
            errors += make_errors(f"{at}.prefix", prefix, env_var_name(prefix))
        found = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        for key in found:
            errors += check_required(f"{at}.{key}.name", text(source[key], "name"), _prefix_of_name)
        if not found:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(found) > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def _prefix_of_name(name: str) -> list[str]:
    return dns1123_subdomain(without_trailing_dash(name))


def _value_from(path: str, variable: Mapping[str, Any]) -> Errors:
    source: Mapping[str, Any] = variable["valueFrom"]
    errors: Errors = []
    found = 0
    for key, rule in _SOURCES.items():
        if source.get(key) is not None:
            found += 1
            errors += rule(f"{path}.{key}", source[key])
    if not found:
        message = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(invalid(path, "", message))
    elif text(variable, "value"):
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif found > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def _key_of(path: str, given: Mapping[str, Any]) -> Errors:
    name = text(given, "name")
    errors = make_errors(f"{path}.name", name, dns1123_subdomain(name))
    return errors + check_required(f"{path}.key", text(given, "key"), config_map_key)


def field_of_pod(path: str, given: Mapping[str, Any], allowed: tuple[str, ...]) -> Errors:
    """A reference to a field of the pod itself."""
    for key in ("apiVersion", "fieldPath"):
        if not text(given, key):
            return [required(f"{path}.{key}")]
    version, label = text(given, "apiVersion"), text(given, "fieldPath")
    field, key, subscripted = _subscript(label)
    why = _unknown_field(version, label, field, subscripted)
    if why:
        return [invalid(f"{path}.fieldPath", label, f"error converting fieldPath: {why}")]
    if subscripted:
        name = key.lower() if field == "metadata.annotations" else key
        return make_errors(path, name, qualified_name(name))
    field = "spec.nodeName" if field == "spec.host" else field
    return [] if field in allowed else [not_supported(f"{path}.fieldPath", field, sorted(allowed))]


def _subscript(label: str) -> tuple[str, str, bool]:
    field, bracket, key = label.removesuffix("']").partition("['")
    if not label.endswith("']") or not bracket or not field:
        return label, "", False
    return field, key, True


def _unknown_field(version: str, label: str, field: str, subscripted: bool) -> str:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if subscripted:
        known = field in ("metadata.annotations", "metadata.labels")
        return "" if known else f"field label does not support subscript: {label}"
    return "" if field in (*_KNOWN_FIELDS, "spec.host") else f"field label not supported: {label}"


def resource_of_container(path: str, given: Mapping[str, Any], in_volume: bool) -> Errors:
    """A reference to a container's request or limit."""
    name = text(given, "resource")
    errors: Errors = []
    if in_volume and not text(given, "containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not name:
        errors.append(required(f"{path}.resource"))
    elif name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        errors.append(not_supported(f"{path}.resource", name, _RESOURCES))
    return errors + _divisor(path, name, given.get("divisor", "0"))


def _divisor(path: str, name: str, divisor: Any) -> Errors:
    if amount(divisor) == 0:
        return []
    shown = amount_text(divisor)
    what = name.partition(".")[2] if name in _RESOURCES else ""
    if what == "cpu":
        if shown in ("1m", "1"):
            return []
        message = "only divisor's values 1m and 1 are supported with the cpu resource"
        return [invalid(f"{path}.divisor", name, message)]
    kind = _DIVISORS.get(what, "hugepages" if name.startswith(_HUGE_PAGES) else "")
    if not kind or shown in _BYTE_DIVISORS:
        return []
    message = f"only divisor's values {', '.join(_BYTE_DIVISORS)} are supported with the {kind} resource"
    return [invalid(f"{path}.divisor", name, message)]


_SOURCES: dict[str, Callable[[str, Mapping[str, Any]], Errors]] = {
    "fieldRef": lambda path, given: field_of_pod(path, given, _ENV_FIELDS),
    "resourceFieldRef": lambda path, given: resource_of_container(path, given, in_volume=False),
    "configMapKeyRef": _key_of,
    "secretKeyRef": _key_of,
    "fileKeyRef": lambda _path, _given: [],
}

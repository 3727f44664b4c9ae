"""Volumes put together from secrets, config maps, the pod's own fields and tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, required
from simcloud.kubernetes.api.validation.common import Errors, items, number, text
from simcloud.kubernetes.api.validation.pods.env import VOLUME_FIELDS, field_of_pod, resource_of_container
from simcloud.kubernetes.api.validation.pods.paths import check_unreserved_path

_TAKEN = "conflicting duplicate paths"


def mode(path: str, value: int | None) -> Errors:
    """The permissions of a file."""
    if value is None or 0 <= value <= 0o777:
        return []
    return [invalid(path, value, "must be a number between 0 and 0777 (octal), both inclusive")]


def key_to_path(path: str, item: Mapping[str, Any]) -> Errors:
    """A key of a Secret or a ConfigMap and the file it becomes."""
    errors = [required(f"{path}.{key}") for key in ("key", "path") if not text(item, key)]
    errors += check_unreserved_path(f"{path}.path", text(item, "path"))
    return errors + mode(f"{path}.mode", item.get("mode"))


def downward_file(path: str, item: Mapping[str, Any]) -> Errors:
    """A file that holds a field of the pod or a resource of a container."""
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    errors = [] if text(item, "path") else [required(f"{path}.path")]
    errors += check_unreserved_path(f"{path}.path", text(item, "path"))
    if field is not None:
        errors += field_of_pod(f"{path}.fieldRef", field, VOLUME_FIELDS)
        if resource is not None:
            message = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", message))
    elif resource is not None:
        errors += resource_of_container(f"{path}.resourceFieldRef", resource, in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    return errors + mode(f"{path}.mode", item.get("mode"))


def volume(path: str, source: Mapping[str, Any]) -> Errors:
    """A projected volume. No two of its files may lie at one path."""
    errors = mode(f"{path}.defaultMode", source.get("defaultMode"))
    taken: set[str] = set()
    for index, projection in enumerate(items(source, "sources")):
        at = f"{path}.sources[{index}]"
        for key in ("secret", "configMap"):
            if projection.get(key) is not None:
                errors += _keys(path, f"{at}.{key}", projection[key], taken)
        if projection.get("downwardAPI") is not None:
            for item in items(projection["downwardAPI"], "items"):
                errors += downward_file(f"{at}.downwardAPI", item)
                errors += _place(path, text(item, "path"), text(item, "path"), taken)
        if projection.get("serviceAccountToken") is not None:
            errors += _token(path, f"{at}.serviceAccountToken", projection["serviceAccountToken"])
        if sum(value is not None for value in projection.values()) > 1:
            errors.append(forbidden(at, "may not specify more than 1 volume type per source"))
    return errors


def _place(path: str, where: str, shown: str, taken: set[str]) -> Errors:
    if not where:
        return []
    if where in taken:
        return [invalid(path, shown, _TAKEN)]
    taken.add(where)
    return []


def _keys(path: str, at: str, source: Mapping[str, Any], taken: set[str]) -> Errors:
    errors = [] if text(source, "name") else [required(f"{at}.name")]
    for index, item in enumerate(items(source, "items")):
        errors += key_to_path(f"{at}.items[{index}]", item)
        errors += _place(path, text(item, "path"), text(source, "name"), taken)
    return errors


def _token(path: str, at: str, source: Mapping[str, Any]) -> Errors:
    seconds, where = number(source, "expirationSeconds"), text(source, "path")
    errors: Errors = []
    if seconds < 600:
        message = "may not specify a duration less than 10 minutes"
        errors.append(invalid(f"{at}.expirationSeconds", seconds, message))
    if seconds > 1 << 32:
        message = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(f"{at}.expirationSeconds", seconds, message))
    return errors + (check_unreserved_path(f"{path}.path", where) if where else [required(f"{path}.path")])

"""Where containers mount their volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import invalid, not_found, required
from simcloud.kubernetes.api.validation.common import Errors, items, text
from simcloud.kubernetes.api.validation.pods.paths import descending


def mounts(path: str, container: Mapping[str, Any], volumes: Mapping[str, Any]) -> Errors:
    """A container's ``volumeMounts``: known volumes, each path once."""
    errors: Errors = []
    places: set[str] = set()
    for index, mount in enumerate(items(container, "volumeMounts")):
        at, name, place = f"{path}[{index}]", text(mount, "name"), text(mount, "mountPath")
        if not name:
            errors.append(required(f"{at}.name"))
        if name not in volumes:
            errors.append(not_found(f"{at}.name", name))
        if not place:
            errors.append(required(f"{at}.mountPath"))
        if place in places:
            errors.append(invalid(f"{at}.mountPath", place, "must be unique"))
        places.add(place)
        errors += _sub_path(path, at, mount)
    return errors


def _sub_path(path: str, at: str, mount: Mapping[str, Any]) -> Errors:
    plain, expanded = text(mount, "subPath"), text(mount, "subPathExpr")
    errors = descending(f"{path}.subPath", plain) if plain else []
    if not expanded:
        return errors
    if plain:
        message = "subPathExpr and subPath are mutually exclusive"
        errors.append(invalid(f"{at}.subPathExpr", expanded, message))
    return errors + descending(f"{path}.subPathExpr", expanded)

"""Where containers mount their volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_found, not_supported, required
from simcloud.kubernetes.api.validation.common import Errors, items, mapping, one_of, text
from simcloud.kubernetes.api.validation.pods.paths import descending, no_backsteps

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def mounts(path: str, container: Mapping[str, Any], volumes: Mapping[str, Any]) -> Errors:
    """A container's ``volumeMounts``: known volumes, each path once."""
    devices = {text(one, "name"): text(one, "devicePath") for one in items(container, "volumeDevices")}
    device_paths = set(devices.values())
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
        if name in devices:
            errors.append(invalid(f"{at}.name", name, "must not already exist in volumeDevices"))
        if place in device_paths:
            told = "must not already exist as a path in volumeDevices"
            errors.append(invalid(f"{at}.mountPath", place, told))
        errors += _sub_path(path, at, mount)
        errors += _propagation(f"{path}.mountPropagation", mount.get("mountPropagation"), container)
        errors += _recursive(f"{path}.recursiveReadOnly", mount)
    return errors


def _sub_path(path: str, at: str, mount: Mapping[str, Any]) -> Errors:
    plain, expanded = text(mount, "subPath"), text(mount, "subPathExpr")
    errors = descending(f"{path}.subPath", plain) if plain else []
    if not expanded:
        return errors
    if plain:
        told = "subPathExpr and subPath are mutually exclusive"
        errors.append(invalid(f"{at}.subPathExpr", expanded, told))
    return errors + descending(f"{path}.subPathExpr", expanded)


def _propagation(path: str, mode: str | None, container: Mapping[str, Any]) -> Errors:
    if mode is None:
        return []
    errors = one_of(path, mode, _PROPAGATIONS)
    if mode == "Bidirectional" and not mapping(container, "securityContext").get("privileged"):
        told = "Bidirectional mount propagation is available only to privileged containers"
        errors.append(forbidden(path, told))
    return errors


def _recursive(path: str, mount: Mapping[str, Any]) -> Errors:
    mode = mount.get("recursiveReadOnly")
    if mode is None or mode == "Disabled":
        return []
    if mode not in _RECURSIVE:
        return [not_supported(path, mode, _RECURSIVE)]
    errors: Errors = []
    if not mount.get("readOnly"):
        errors.append(forbidden(path, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation") not in (None, "None"):
        told = "may only be specified when mountPropagation is None or not specified"
        errors.append(forbidden(path, told))
    return errors


def devices(path: str, container: Mapping[str, Any], volumes: Mapping[str, Any]) -> Errors:
    """A container's ``volumeDevices``: claims used as raw disks."""
    mounted = {text(one, "name"): text(one, "mountPath") for one in items(container, "volumeMounts")}
    mount_paths = set(mounted.values())
    errors: Errors = []
    names: set[str] = set()
    places: set[str] = set()
    for index, device in enumerate(items(container, "volumeDevices")):
        at, name, place = f"{path}[{index}]", text(device, "name"), text(device, "devicePath")
        if not name:
            errors.append(required(f"{at}.name"))
        if name in names:
            errors.append(invalid(f"{at}.name", name, "must be unique"))
        errors += _claimed(f"{at}.name", name, volumes)
        if not place:
            errors.append(required(f"{at}.devicePath"))
        if place in places:
            errors.append(invalid(f"{at}.devicePath", place, "must be unique"))
        if no_backsteps("", place):
            errors.append(invalid(f"{at}.devicePath", place, "can not contain backsteps ('..')"))
        else:
            places.add(place)
        if name in mounted:
            errors.append(invalid(f"{at}.name", name, "must not already exist in volumeMounts"))
        if place in mount_paths:
            told = "must not already exist as a path in volumeMounts"
            errors.append(invalid(f"{at}.devicePath", place, told))
        names |= {name} if name else set()
    return errors


def _claimed(path: str, name: str, volumes: Mapping[str, Any]) -> Errors:
    if name not in volumes:
        return [not_found(path, name)]
    if any(volumes[name].get(key) is not None for key in ("persistentVolumeClaim", "ephemeral")):
        return []
    told = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
    return [invalid(path, name, told)]

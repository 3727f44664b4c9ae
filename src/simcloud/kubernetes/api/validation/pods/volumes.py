"""Validation of a pod's volumes and of the mounts of its containers.

A volume has exactly one source. The common sources have rules here; the others are checked against the published
schema only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
)
from simcloud.kubernetes.api.validation.common import (
    Errors,
    amount,
    check_required,
    items,
    make_errors,
    mapping,
    number,
    text,
)
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain, size
from simcloud.kubernetes.api.validation.pods import claims
from simcloud.kubernetes.api.validation.pods.env import VOLUME_FIELDS, field_of_pod, resource_of_container

SourceRule: TypeAlias = Callable[[str, Mapping[str, Any]], Errors]

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate"),
    "Socket",
)

_TAKEN = "conflicting duplicate paths"


def volumes(path: str, given: list[Any], pod_name: str) -> tuple[dict[str, Any], Errors]:
    """The sound volumes by name, and what is wrong with the others."""
    errors: Errors = []
    sound: dict[str, Any] = {}
    created = {
        f"{pod_name}-{text(entry, 'name')}"
        for entry in given
        if pod_name and entry.get("ephemeral") is not None
    }
    for index, volume in enumerate(given):
        at, name = f"{path}[{index}]", text(volume, "name")
        own = _source(at, volume, pod_name) + check_required(f"{at}.name", name, dns1123_label)
        if name in sound:
            own.append(duplicate(f"{at}.name", name))
        if not own:
            sound[name] = volume
        errors += own
        claim = text(mapping(volume, "persistentVolumeClaim"), "claimName")
        if claim and claim in created:
            message = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{at}.persistentVolumeClaim.claimName", claim, message))
    return sound, errors


def _source(path: str, volume: Mapping[str, Any], pod_name: str) -> Errors:
    errors: Errors = []
    found = 0
    for key, rule in _SOURCES.items():
        source = volume.get(key)
        if source is None:
            continue
        found += 1
        if found > 1:
            spelt = _SPELT_SO.get(key, key)
            errors.append(forbidden(f"{path}.{spelt}", "may not specify more than 1 volume type"))
            continue
        if rule is not None:
            errors += rule(f"{path}.{key}", source)
        if key == "ephemeral":
            errors += _claim_name(f"{path}.name", pod_name, text(volume, "name"))
    return errors if found else [*errors, required(path, "must specify a volume type")]


def _claim_name(path: str, pod_name: str, name: str) -> Errors:
    if not pod_name or not name:
        return []
    claim = f"{pod_name}-{name}"
    return make_errors(path, name, [f'PVC name "{claim}": {message}' for message in dns1123_subdomain(claim)])


def _empty_dir(path: str, source: Mapping[str, Any]) -> Errors:
    if amount(source.get("sizeLimit", 0)) >= 0:
        return []
    return [forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]


def _host_path(path: str, source: Mapping[str, Any]) -> Errors:
    where, kind = text(source, "path"), source.get("type")
    if not where:
        return [required(f"{path}.path")]
    errors = no_backsteps(f"{path}.path", where)
    if kind is not None and kind not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _HOST_PATH_TYPES))
    return errors


def _keys_from(name_key: str) -> SourceRule:
    def rule(path: str, source: Mapping[str, Any]) -> Errors:
        errors = [] if text(source, name_key) else [required(f"{path}.{name_key}")]
        errors += mode(f"{path}.defaultMode", source.get("defaultMode"))
        for index, item in enumerate(items(source, "items")):
            errors += key_to_path(f"{path}.items[{index}]", item)
        return errors

    return rule


def _downward(path: str, source: Mapping[str, Any]) -> Errors:
    errors = mode(f"{path}.defaultMode", source.get("defaultMode"))
    for item in items(source, "items"):
        errors += downward_file(path, item)
    return errors


def _claim(path: str, source: Mapping[str, Any]) -> Errors:
    return [] if text(source, "claimName") else [required(f"{path}.claimName")]


def _csi(path: str, source: Mapping[str, Any]) -> Errors:
    return driver_name(f"{path}.driver", text(source, "driver"))


def _ephemeral(path: str, source: Mapping[str, Any]) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    return claims.template(f"{path}.volumeClaimTemplate", template)


def no_backsteps(path: str, value: str) -> Errors:
    """A path with no ``..`` in it."""
    return [invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def descending(path: str, value: str) -> Errors:
    """A relative path with no ``..`` in it."""
    errors = [invalid(path, value, "must be a relative path")] if value.startswith("/") else []
    return errors + no_backsteps(path, value)


def check_unreserved_path(path: str, value: str) -> Errors:
    """A relative path that does not start with ``..``, which volumes keep for themselves."""
    errors = descending(path, value)
    if value.startswith("..") and not value.startswith("../"):
        errors.append(invalid(path, value, "must not start with '..'"))
    return errors


def _missing(path: str, source: Mapping[str, Any], *keys: str) -> Errors:
    return [required(f"{path}.{key}") for key in keys if not source.get(key)]


def nfs(path: str, source: Mapping[str, Any]) -> Errors:
    """A directory of an NFS server."""
    errors = _missing(path, source, "server", "path")
    where = text(source, "path")
    if not where.startswith("/"):
        errors.append(invalid(f"{path}.path", where, "must be an absolute path"))
    return errors


def driver_name(path: str, name: str) -> Errors:
    """A CSI driver's name: a domain in any case, at most 63 characters."""
    if not name:
        return [required(path)]
    errors = [too_long(path, 63)] if size(name) > 63 else []
    return errors + make_errors(path, name, dns1123_subdomain(name.lower()))


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


def _projection(path: str, source: Mapping[str, Any]) -> Errors:
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


_SOURCES: dict[str, SourceRule | None] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    **dict.fromkeys(("gitRepo", "gcePersistentDisk", "awsElasticBlockStore")),
    "secret": _keys_from("secretName"),
    "nfs": nfs,
    **dict.fromkeys(("iscsi", "glusterfs", "flocker")),
    "persistentVolumeClaim": _claim,
    **dict.fromkeys(("rbd", "cinder", "cephfs", "quobyte")),
    "downwardAPI": _downward,
    **dict.fromkeys(("fc", "flexVolume")),
    "configMap": _keys_from("name"),
    **dict.fromkeys(("azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume")),
    **dict.fromkeys(("azureDisk", "storageos")),
    "projected": _projection,
    "scaleIO": None,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": None,
}
"""The rule of each source, in the order of the genuine server's checks."""
_SPELT_SO = {"downwardAPI": "downwarAPI"}
"""The genuine server misspells this source when a volume has two."""

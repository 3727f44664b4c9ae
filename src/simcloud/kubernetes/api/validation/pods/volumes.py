"""A pod's volumes: exactly one source each, and what the common sources need.

The others are held to the published schema only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import (
    Errors,
    amount,
    check_required,
    items,
    make_errors,
    mapping,
    text,
)
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain
from simcloud.kubernetes.api.validation.pods import claims, network_volumes, projected
from simcloud.kubernetes.api.validation.pods.paths import no_backsteps

SourceRule: TypeAlias = Callable[[str, Mapping[str, Any]], Errors]

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate"),
    "Socket",
)


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
        errors += projected.mode(f"{path}.defaultMode", source.get("defaultMode"))
        for index, item in enumerate(items(source, "items")):
            errors += projected.key_to_path(f"{path}.items[{index}]", item)
        return errors

    return rule


def _downward(path: str, source: Mapping[str, Any]) -> Errors:
    errors = projected.mode(f"{path}.defaultMode", source.get("defaultMode"))
    for item in items(source, "items"):
        errors += projected.downward_file(path, item)
    return errors


def _claim(path: str, source: Mapping[str, Any]) -> Errors:
    return [] if text(source, "claimName") else [required(f"{path}.claimName")]


def _csi(path: str, source: Mapping[str, Any]) -> Errors:
    return network_volumes.driver_name(f"{path}.driver", text(source, "driver"))


def _ephemeral(path: str, source: Mapping[str, Any]) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    return claims.template(f"{path}.volumeClaimTemplate", template)


_SOURCES: dict[str, SourceRule | None] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    **dict.fromkeys(("gitRepo", "gcePersistentDisk", "awsElasticBlockStore")),
    "secret": _keys_from("secretName"),
    "nfs": network_volumes.nfs,
    **dict.fromkeys(("iscsi", "glusterfs", "flocker")),
    "persistentVolumeClaim": _claim,
    **dict.fromkeys(("rbd", "cinder", "cephfs", "quobyte")),
    "downwardAPI": _downward,
    **dict.fromkeys(("fc", "flexVolume")),
    "configMap": _keys_from("name"),
    **dict.fromkeys(("azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume")),
    **dict.fromkeys(("azureDisk", "storageos")),
    "projected": projected.volume,
    "scaleIO": None,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": None,
}
"""In the order they are looked at. The genuine server misspells one where there are two."""
_SPELT_SO = {"downwardAPI": "downwarAPI"}

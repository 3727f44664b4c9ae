"""A pod's volumes: exactly one source each, and what each source needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import duplicate, forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.validation.common import (
    Errors,
    amount,
    broken,
    items,
    mapping,
    needed,
    number,
    text,
)
from simcloud.kubernetes.api.validation.names import dns1123_label, dns1123_subdomain
from simcloud.kubernetes.api.validation.pods import claims, network_volumes, projected
from simcloud.kubernetes.api.validation.pods.paths import descending, no_backsteps

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
        f"{pod_name}-{text(one, 'name')}" for one in given if pod_name and one.get("ephemeral") is not None
    }
    for index, volume in enumerate(given):
        at, name = f"{path}[{index}]", text(volume, "name")
        own = _source(at, volume, pod_name) + needed(f"{at}.name", name, dns1123_label)
        if name in sound:
            own.append(duplicate(f"{at}.name", name))
        if not own:
            sound[name] = volume
        errors += own
        claim = text(mapping(volume, "persistentVolumeClaim"), "claimName")
        if claim and claim in created:
            told = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{at}.persistentVolumeClaim.claimName", claim, told))
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
        errors += rule(f"{path}.{_PATHS.get(key, key)}", source)
        if key == "iscsi":
            errors += network_volumes.iscsi_name(f"{path}.name", text(volume, "name"), source)
        if key == "ephemeral":
            errors += _claim_name(f"{path}.name", pod_name, text(volume, "name"))
    return errors if found else [*errors, required(path, "must specify a volume type")]


def _claim_name(path: str, pod_name: str, name: str) -> Errors:
    if not pod_name or not name:
        return []
    claim = f"{pod_name}-{name}"
    return broken(path, name, [f'PVC name "{claim}": {told}' for told in dns1123_subdomain(claim)])


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


def _git_repo(path: str, source: Mapping[str, Any]) -> Errors:
    errors = [] if text(source, "repository") else [required(f"{path}.repository")]
    return errors + descending(f"{path}.directory", text(source, "directory"))


def _disk(key: str) -> SourceRule:
    def rule(path: str, source: Mapping[str, Any]) -> Errors:
        errors = [] if text(source, key) else [required(f"{path}.{key}")]
        partition = number(source, "partition")
        if not 0 <= partition <= 255:
            told = "must be between 1 and 255, inclusive"
            errors.append(invalid(f"{path}.partition", partition, told))
        return errors

    return rule


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


def _needs(*keys: str) -> SourceRule:
    def rule(path: str, source: Mapping[str, Any]) -> Errors:
        return [required(f"{path}.{key}") for key in keys if not source.get(key)]

    return rule


def _csi(path: str, source: Mapping[str, Any]) -> Errors:
    errors = network_volumes.driver_name(f"{path}.driver", text(source, "driver"))
    secret = source.get("nodePublishSecretRef")
    if secret is not None:
        errors += needed(f"{path}.nodePublishSecretRef.name", text(secret, "name"), dns1123_subdomain)
    return errors


def _ephemeral(path: str, source: Mapping[str, Any]) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [required(f"{path}.volumeClaimTemplate")]
    return claims.template(f"{path}.volumeClaimTemplate", template)


def _image(path: str, source: Mapping[str, Any]) -> Errors:
    errors = [] if text(source, "reference") else [required(f"{path}.reference")]
    policy = text(source, "pullPolicy")
    if not policy:
        return [*errors, required(f"{path}.pullPolicy")]
    if policy not in PULL_POLICIES:
        errors.append(not_supported(f"{path}.pullPolicy", policy, PULL_POLICIES))
    return errors


_SOURCES: dict[str, SourceRule] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _disk("pdName"),
    "awsElasticBlockStore": _disk("volumeID"),
    "secret": _keys_from("secretName"),
    "nfs": network_volumes.nfs,
    "iscsi": network_volumes.iscsi,
    "glusterfs": _needs("endpoints", "path"),
    "flocker": network_volumes.flocker,
    "persistentVolumeClaim": _needs("claimName"),
    "rbd": _needs("monitors", "image"),
    "cinder": network_volumes.cinder,
    "cephfs": _needs("monitors"),
    "quobyte": network_volumes.quobyte,
    "downwardAPI": _downward,
    "fc": network_volumes.fibre_channel,
    "flexVolume": network_volumes.flex,
    "configMap": _keys_from("name"),
    "azureFile": _needs("secretName", "shareName"),
    "vsphereVolume": _needs("volumePath"),
    "photonPersistentDisk": _needs("pdID"),
    "portworxVolume": _needs("volumeID"),
    "azureDisk": network_volumes.azure_disk,
    "storageos": network_volumes.storage_os,
    "projected": projected.volume,
    "scaleIO": _needs("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
_PATHS = {"gcePersistentDisk": "persistentDisk"}
_SPELT_SO = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
"""How the genuine server spells these sources when there is one too many."""

"""The rules of what stands behind a PersistentVolume: a folder, an NFS export, a CSI volume …"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, needed, number, text
from simcloud.kubernetes.api.validation.names import between, dns1123_label, dns1123_subdomain
from simcloud.kubernetes.api.validation.pods import network_volumes
from simcloud.kubernetes.api.validation.pods.paths import no_backsteps

SourceRule: TypeAlias = Callable[[str, Any], Errors]

_HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
_ONE = "may not specify more than 1 volume type"
_SECRETS = (
    *("controllerPublishSecretRef", "controllerExpandSecretRef"),
    *("nodePublishSecretRef", "nodeExpandSecretRef"),
)


def check_source(path: str, spec: Object, name: str, placed: bool) -> Errors:
    """Exactly one source, and its rules. ``placed`` says whether the volume names its nodes."""
    errors: Errors = []
    found = 0
    for field, (told, rule) in _SOURCES.items():
        source = spec.get(field)
        if source is None:
            continue
        if found and field != "flexVolume":
            errors.append(forbidden(f"{path}.{_MANY_PATHS.get(field, field)}", _ONE))
            continue
        found += 1
        errors += rule(f"{path}.{told}", source)
        if field == "iscsi":
            errors += _iscsi_session(f"{path}.iscsi", source, name)
        if field == "local" and not placed:
            errors.append(required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    if not found:
        errors.append(required(path, "must specify a volume type"))
    return errors


def _folder(path: str, source: Object) -> Errors:
    if not text(source, "path"):
        return [required(f"{path}.path")]
    return no_backsteps(f"{path}.path", source["path"])


def _host_path(path: str, source: Object) -> Errors:
    errors, kind = _folder(path, source), source.get("type")
    if text(source, "path") and kind is not None and kind not in _HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _HOST_PATH_TYPES))
    return errors


def _csi(path: str, source: Object) -> Errors:
    errors = network_volumes.driver_name(f"{path}.driver", text(source, "driver"))
    errors += _fields("volumeHandle")(path, source)
    for field in _SECRETS:
        if source.get(field) is not None:
            errors += needed(f"{path}.{field}.name", text(source[field], "name"), dns1123_subdomain)
            errors += needed(f"{path}.{field}.namespace", text(source[field], "namespace"), dns1123_label)
    return errors


def _disk(field: str) -> SourceRule:
    def rule(path: str, source: Object) -> Errors:
        errors = _fields(field)(path, source)
        partition = number(source, "partition")
        if not 0 <= partition <= 255:
            errors.append(invalid(f"{path}.partition", partition, between(1, 255)))
        return errors

    return rule


def _iscsi_session(path: str, source: Object, name: str) -> Errors:
    """The volume's name and the portal together are an initiator's session name."""
    portal = text(source, "targetPortal")
    errors: Errors = []
    if source.get("initiatorName") is not None and len(f"{name}:{portal}") > 64:
        told = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
            "iscsi.initiatorName is specified."
        )
        errors.append(invalid(f"{path}.targetportal", portal, told))
    return errors


def _azure_file(path: str, source: Object) -> Errors:
    errors = _fields("secretName", "shareName")(path, source)
    if source.get("secretNamespace") == "":
        errors.append(required(f"{path}.secretNamespace"))
    return errors


def _with_space(rule: SourceRule) -> SourceRule:
    """A source whose secret may lie in any namespace, and so must say in which."""

    def with_space(path: str, source: Object) -> Errors:
        errors, secret = rule(path, source), source.get("secretRef")
        if secret is not None and not text(secret, "namespace"):
            errors.append(required(f"{path}.secretRef.namespace"))
        return errors

    return with_space


def _fields(*fields: str) -> SourceRule:
    """The rule of a source that needs nothing but these fields."""

    def rule(path: str, source: Object) -> Errors:
        return [required(f"{path}.{field}") for field in fields if not source.get(field)]

    return rule


_MANY_PATHS = {"cephfs": "cephFS"}
_SOURCES: dict[str, tuple[str, SourceRule]] = {
    "hostPath": ("hostPath", _host_path),
    "gcePersistentDisk": ("persistentDisk", _disk("pdName")),
    "awsElasticBlockStore": ("awsElasticBlockStore", _disk("volumeID")),
    "glusterfs": ("glusterfs", _fields("endpoints", "path")),
    "flocker": ("flocker", network_volumes.flocker),
    "nfs": ("nfs", network_volumes.nfs),
    "rbd": ("rbd", _fields("monitors", "image")),
    "quobyte": ("quobyte", network_volumes.quobyte),
    "cephfs": ("cephfs", _fields("monitors")),
    "iscsi": ("iscsi", network_volumes.iscsi),
    "cinder": ("cinder", _with_space(network_volumes.cinder)),
    "fc": ("fc", network_volumes.fibre_channel),
    "flexVolume": ("flexVolume", network_volumes.flex),
    "azureFile": ("azureFile", _azure_file),
    "vsphereVolume": ("vsphereVolume", _fields("volumePath")),
    "photonPersistentDisk": ("photonPersistentDisk", _fields("pdID")),
    "portworxVolume": ("portworxVolume", _fields("volumeID")),
    "azureDisk": ("azureDisk", network_volumes.azure_disk),
    "scaleIO": ("scaleIO", _fields("gateway", "system", "volumeName")),
    "local": ("local", _folder),
    "storageos": ("storageos", _with_space(network_volumes.storage_os)),
    "csi": ("csi", _csi),
}
"""The sources in the order they are looked at, each with the path it is told by and its rule."""

SOURCE_FIELDS = tuple(_SOURCES)

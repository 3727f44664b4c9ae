"""Volumes that come over the network, most of them deprecated: what each needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import invalid, not_supported, required, too_long
from simcloud.kubernetes.api.validation.common import Errors, broken, items, mapping, number, text
from simcloud.kubernetes.api.validation.names import between, dns1123_label, dns1123_subdomain, size

_TARGET_FORMS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.[0-9A-Za-z.-]+:[^,;*&$|\s]+"),
    "eui": re.compile(r"eui.[0-9A-Za-z]{16}"),
    "naa": re.compile(r"naa.[0-9A-Za-z]{32}"),
}
_CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK = (
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
)
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"


def _missing(path: str, source: Mapping[str, Any], *keys: str) -> Errors:
    return [required(f"{path}.{key}") for key in keys if not source.get(key)]


def nfs(path: str, source: Mapping[str, Any]) -> Errors:
    """A directory of an NFS server."""
    errors = _missing(path, source, "server", "path")
    where = text(source, "path")
    if not where.startswith("/"):
        errors.append(invalid(f"{path}.path", where, "must be an absolute path"))
    return errors


def iscsi(path: str, source: Mapping[str, Any]) -> Errors:
    """A disk of an iSCSI target."""
    errors = _missing(path, source, "targetPortal")
    target, lun, initiator = text(source, "iqn"), number(source, "lun"), source.get("initiatorName")
    errors += _iscsi_name(f"{path}.iqn", target) if target else [required(f"{path}.iqn")]
    if not 0 <= lun <= 255:
        errors.append(invalid(f"{path}.lun", lun, between(0, 255)))
    secured = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if secured and source.get("secretRef") is None:
        errors.append(required(f"{path}.secretRef"))
    if initiator is not None:
        errors += _iscsi_name(f"{path}.initiatorname", initiator)
    return errors


def _iscsi_name(path: str, name: str) -> Errors:
    form = _TARGET_FORMS.get(name[:3])
    if form is None:
        return [invalid(path, name, "must be valid format starting with iqn, eui, or naa")]
    return [] if form.fullmatch(name) else [invalid(path, name, "must be valid format")]


def iscsi_name(path: str, name: str, source: Mapping[str, Any]) -> Errors:
    """The volume's name and the portal together are an initiator's session name."""
    if source.get("initiatorName") is None or size(f"{name}:{text(source, 'targetPortal')}") <= 64:
        return []
    told = (
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if "
        "iscsi.initiatorName is specified."
    )
    return [invalid(path, name, told)]


def flocker(path: str, source: Mapping[str, Any]) -> Errors:
    """A Flocker dataset by name or by UUID."""
    name, uuid = text(source, "datasetName"), text(source, "datasetUUID")
    errors: Errors = []
    if not name and not uuid:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        told = "datasetName and datasetUUID can not be specified simultaneously"
        errors.append(invalid(path, "resource", told))
    if "/" in name:
        errors.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return errors


def cinder(path: str, source: Mapping[str, Any]) -> Errors:
    """A Cinder volume."""
    errors = _missing(path, source, "volumeID")
    secret = source.get("secretRef")
    if secret is not None and not text(secret, "name"):
        errors.append(required(f"{path}.secretRef.name"))
    return errors


def quobyte(path: str, source: Mapping[str, Any]) -> Errors:
    """A Quobyte volume and its registries."""
    registry = text(source, "registry")
    errors: Errors = []
    if not registry:
        errors.append(required(f"{path}.registry", _PAIRS))
    elif size(text(source, "tenant")) >= 65:
        told = "must be a UUID and may not exceed a length of 64 characters"
        errors.append(required(f"{path}.tenant", told))
    else:
        errors += [
            invalid(f"{path}.registry", registry, _PAIRS)
            for pair in registry.split(",")
            if not _is_host_port(pair)
        ]
    return errors + _missing(path, source, "volume")


def _is_host_port(pair: str) -> bool:
    host, colon, _ = pair.rpartition(":")
    return bool(colon) and (":" not in host or (host.startswith("[") and host.endswith("]")))


def fibre_channel(path: str, source: Mapping[str, Any]) -> Errors:
    """A Fibre Channel disk by target and LUN, or by its world wide id."""
    targets, ids, lun = items(source, "targetWWNs"), items(source, "wwids"), source.get("lun")
    errors: Errors = []
    if not targets and not ids:
        told = "must specify either targetWWNs or wwids, but not both"
        errors.append(required(f"{path}.targetWWNs", told))
    if targets and ids:
        told = "targetWWNs and wwids can not be specified simultaneously"
        errors.append(invalid(f"{path}.targetWWNs", targets, told))
    if targets and lun is None:
        errors.append(required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    elif targets and lun not in range(256):
        errors.append(invalid(f"{path}.lun", lun, between(0, 255)))
    return errors


def flex(path: str, source: Mapping[str, Any]) -> Errors:
    """A volume of a FlexVolume driver."""
    errors = _missing(path, source, "driver")
    for key in sorted(mapping(source, "options")):
        namespace = f".{key.partition('/')[0].lower()}"
        if namespace.endswith((".kubernetes.io", ".k8s.io")):
            told = "kubernetes.io and k8s.io namespaces are reserved"
            errors.append(invalid(f"{path}.options[{key}]", key, told))
    return errors


def azure_disk(path: str, source: Mapping[str, Any]) -> Errors:
    """An Azure disk."""
    errors = _missing(path, source, "diskName", "diskURI")
    caching, kind, uri = source.get("cachingMode"), source.get("kind"), text(source, "diskURI")
    if caching is not None and caching not in _CACHING_MODES:
        errors.append(not_supported(f"{path}.cachingMode", caching, _CACHING_MODES))
    if kind is not None and kind not in _DISK_KINDS:
        errors.append(not_supported(f"{path}.kind", kind, _DISK_KINDS))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.append(not_supported(f"{path}.diskURI", uri, [_MANAGED_DISK]))
    if kind not in (None, "Managed") and not uri.startswith("https://"):
        errors.append(not_supported(f"{path}.diskURI", uri, [_BLOB_DISK]))
    return errors


def storage_os(path: str, source: Mapping[str, Any]) -> Errors:
    """A StorageOS volume."""
    name, namespace = text(source, "volumeName"), text(source, "volumeNamespace")
    errors = (
        broken(f"{path}.volumeName", name, dns1123_label(name)) if name else [required(f"{path}.volumeName")]
    )
    if namespace:
        errors += broken(f"{path}.volumeNamespace", namespace, dns1123_label(namespace))
    secret = source.get("secretRef")
    if secret is not None and not text(secret, "name"):
        errors.append(required(f"{path}.secretRef.name"))
    return errors


def driver_name(path: str, name: str) -> Errors:
    """A CSI driver's name: a domain in any case, at most 63 characters."""
    if not name:
        return [required(path)]
    errors = [too_long(path, 63)] if size(name) > 63 else []
    return errors + broken(path, name, dns1123_subdomain(name.lower()))

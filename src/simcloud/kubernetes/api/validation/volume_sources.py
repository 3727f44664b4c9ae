"""The rules of what stands behind a PersistentVolume: a folder, an NFS export, a CSI volume.

Other sources are held to the published schema only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from simcloud.kubernetes.api.field_errors import forbidden, not_supported, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import Errors, text
from simcloud.kubernetes.api.validation.pods import volumes
from simcloud.kubernetes.api.validation.pods.volumes import no_backsteps

SourceRule: TypeAlias = Callable[[str, Any], Errors]

_HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),
)
_ONE = "may not specify more than 1 volume type"


def check_source(path: str, spec: Object, placed: bool) -> Errors:
    """Exactly one source, and its rules. ``placed`` says whether the volume names its nodes."""
    errors: Errors = []
    found = 0
    for field in SOURCE_FIELDS:
        source = spec.get(field)
        if source is None:
            continue
        if found:
            errors.append(forbidden(f"{path}.{field}", _ONE))
            continue
        found += 1
        if field in _RULES:
            errors += _RULES[field](f"{path}.{field}", source)
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
    errors = volumes.driver_name(f"{path}.driver", text(source, "driver"))
    if not text(source, "volumeHandle"):
        errors.append(required(f"{path}.volumeHandle"))
    return errors


_RULES: dict[str, SourceRule] = {
    "hostPath": _host_path,
    "nfs": volumes.nfs,
    "local": _folder,
    "csi": _csi,
}
SOURCE_FIELDS = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs", "rbd"),
    *("quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local", "storageos", "csi"),
)
"""The sources in the order they are looked at."""

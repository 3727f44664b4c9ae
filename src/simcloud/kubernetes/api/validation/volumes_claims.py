"""The rules of a PersistentVolume and of a claim to one, and what their writes are warned of."""

from __future__ import annotations

import posixpath

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object, at, copy
from simcloud.kubernetes.api.validation.common import (
    IMMUTABLE,
    Errors,
    amount,
    amount_text,
    check_amount_positive,
    immutable,
    items,
    make_errors,
    mapping,
    pairs,
    same,
    text,
)
from simcloud.kubernetes.api.validation.go_types import changes, difference, internal, structure
from simcloud.kubernetes.api.validation.names import dns1123_subdomain
from simcloud.kubernetes.api.validation.pods.affinity import node_selector
from simcloud.kubernetes.api.validation.pods.claims import ACCESS_MODES, claim_spec
from simcloud.kubernetes.api.validation.registry import validates, warns
from simcloud.kubernetes.api.validation.volume_sources import SOURCE_FIELDS, check_source

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_BETA_CLASS_RULE = (
    f'metadata.annotations[{BETA_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead'
)
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_VOLUME_MODES = ("Block", "Filesystem")


@validates("", "PersistentVolume")
def persistent_volume(new: Object, old: Object | None) -> Errors:
    """The rules of a PersistentVolume."""
    errors = volume_spec("spec", mapping(new, "spec"))
    return errors if old is None else errors + _volume_update(mapping(new, "spec"), mapping(old, "spec"))


@warns("", "PersistentVolume")
def persistent_volume_warnings(new: Object, old: Object | None) -> list[str]:
    """What a write of a PersistentVolume is warned of."""
    spec = mapping(new, "spec")
    messages = [_BETA_CLASS_RULE] if BETA_CLASS in mapping(mapping(new, "metadata"), "annotations") else []
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        messages.append(
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
            "the recommended approach is to use dynamic provisioning."
        )
    return messages


def volume_spec(path: str, spec: Object) -> Errors:
    """The rules of what a PersistentVolume is."""
    errors = _access_modes(f"{path}.accessModes", spec) + _capacity(f"{path}.capacity", spec)
    policy, affinity = text(spec, "persistentVolumeReclaimPolicy"), spec.get("nodeAffinity")
    if policy and policy not in _RECLAIM_POLICIES:
        errors.append(not_supported(f"{path}.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES))
    if affinity is not None:
        errors += _node_affinity(f"{path}.nodeAffinity", affinity)
    errors += check_source(path, spec, placed=affinity is not None)
    folder = at(spec, "hostPath", "path", default=None)
    if folder is not None and policy == "Recycle" and posixpath.normpath(folder).lstrip("/") == "":
        message = "may not be 'recycle' for a hostPath mount of '/'"
        errors.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", message))
    errors += _class_name(f"{path}.storageClassName", text(spec, "storageClassName"))
    return errors + _volume_mode(f"{path}.volumeMode", spec)


def _access_modes(path: str, spec: Object) -> Errors:
    modes = items(spec, "accessModes")
    errors: Errors = [] if modes else [required(path)]
    return errors + _mode_values(path, modes)


def _mode_values(path: str, modes: list[str]) -> Errors:
    errors: Errors = [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    others = [mode for mode in modes if mode in ACCESS_MODES and mode != "ReadWriteOncePod"]
    if "ReadWriteOncePod" in modes and others:
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def _capacity(path: str, spec: Object) -> Errors:
    capacity = mapping(spec, "capacity")
    errors: Errors = [] if capacity else [required(path)]
    if list(capacity) != ["storage"]:
        errors.append(not_supported(path, spec.get("capacity"), ["storage"]))
    for name, value in pairs(spec, "capacity"):
        errors += _basic_amount(f"{path}[{name}]", value)
        errors += check_amount_positive(f"{path}[{name}]", value)
    return errors


def _basic_amount(path: str, value: str) -> Errors:
    whole = amount(value).__ceil__()
    return [invalid(path, whole, "must be a valid resource quantity")] if whole < 0 else []


def _node_affinity(path: str, affinity: Object) -> Errors:
    if affinity.get("required") is None:
        return [required(f"{path}.required", "must specify required node constraints")]
    return node_selector(f"{path}.required", affinity["required"])


def _class_name(path: str, name: str) -> Errors:
    return make_errors(path, name, dns1123_subdomain(name)) if name else []


def _volume_mode(path: str, spec: Object) -> Errors:
    mode = spec.get("volumeMode")
    return [] if mode is None or mode in _VOLUME_MODES else [not_supported(path, mode, _VOLUME_MODES)]


def _volume_update(spec: Object, before: Object) -> Errors:
    errors: Errors = []
    if not same(_source(spec, before), _source(before, before)):
        diff = difference(_source_shown(before), _source_shown(spec))
        sentence = f"spec.persistentvolumesource is immutable after creation\n{diff}"
        errors.append(forbidden("spec.persistentvolumesource", sentence))
    errors += immutable("volumeMode", spec.get("volumeMode", "null"), before.get("volumeMode", "null"))
    had = before.get("nodeAffinity")
    if had is not None and not same(spec.get("nodeAffinity"), had):
        diff = f"{IMMUTABLE}, except for updating from beta label to GA"
        errors.append(invalid("nodeAffinity", internal(spec.get("nodeAffinity")) or "null", diff))
    return errors


def _source(spec: Object, before: Object) -> Object:
    """The volume's source. A secret to grow a CSI volume with may still be added."""
    source = {field: spec[field] for field in SOURCE_FIELDS if spec.get(field) is not None}
    secret = "controllerExpandSecretRef"
    if "csi" in source and before.get("csi") is not None and before["csi"].get(secret) is None:
        source["csi"] = {key: value for key, value in source["csi"].items() if key != secret}
    return source


_SOURCE_ORDER = {
    "gcePersistentDisk": "GCEPersistentDisk",
    "awsElasticBlockStore": "AWSElasticBlockStore",
    "hostPath": "HostPath",
    "glusterfs": "Glusterfs",
    "nfs": "NFS",
    "rbd": "RBD",
    "quobyte": "Quobyte",
    "iscsi": "ISCSI",
    "flexVolume": "FlexVolume",
    "cinder": "Cinder",
    "cephfs": "CephFS",
    "fc": "FC",
    "flocker": "Flocker",
    "azureFile": "AzureFile",
    "vsphereVolume": "VsphereVolume",
    "azureDisk": "AzureDisk",
    "photonPersistentDisk": "PhotonPersistentDisk",
    "portworxVolume": "PortworxVolume",
    "scaleIO": "ScaleIO",
    "local": "Local",
    "storageos": "StorageOS",
    "csi": "CSI",
}
_SECRET_REFERENCES = (
    *("controllerPublishSecretRef", "nodeStageSecretRef", "nodePublishSecretRef"),
    *("controllerExpandSecretRef", "nodeExpandSecretRef"),
)
_SOURCE_SHAPES: dict[str, tuple[tuple[str, str, object], ...]] = {
    "hostPath": (("path", "Path", ""), ("type", "Type", None)),
    "nfs": (("server", "Server", ""), ("path", "Path", ""), ("readOnly", "ReadOnly", False)),
    "local": (("path", "Path", ""), ("fsType", "FSType", None)),
    "csi": (
        ("driver", "Driver", ""),
        ("volumeHandle", "VolumeHandle", ""),
        ("readOnly", "ReadOnly", False),
        ("fsType", "FSType", ""),
        ("volumeAttributes", "VolumeAttributes", None),
        *((field, f"{field[0].upper()}{field[1:]}", None) for field in _SECRET_REFERENCES),
    ),
}


def _source_shown(spec: Object) -> Object:
    return {go_name: _one_source_shown(field, spec.get(field)) for field, go_name in _SOURCE_ORDER.items()}


def _one_source_shown(field: str, source: Object | None) -> Object | None:
    if field not in _SOURCE_SHAPES:
        shown: Object | None = internal(source)
        return shown
    shown = structure(source, *_SOURCE_SHAPES[field])
    for reference in (f"{field_name[0].upper()}{field_name[1:]}" for field_name in _SECRET_REFERENCES):
        if shown and shown.get(reference) is not None:
            shown[reference] = structure(
                shown[reference], ("name", "Name", ""), ("namespace", "Namespace", "")
            )
    return shown


@validates("", "PersistentVolumeClaim")
def persistent_volume_claim(new: Object, old: Object | None) -> Errors:
    """The rules of a PersistentVolumeClaim."""
    errors = claim_spec("spec", mapping(new, "spec"))
    return errors if old is None else errors + _claim_update(new, old)


@warns("", "PersistentVolumeClaim")
def persistent_volume_claim_warnings(new: Object, old: Object | None) -> list[str]:
    """What a write of a PersistentVolumeClaim is warned of."""
    messages = [_BETA_CLASS_RULE] if BETA_CLASS in mapping(mapping(new, "metadata"), "annotations") else []
    return messages + claim_spec_warnings("spec", mapping(new, "spec"))


def claim_spec_warnings(path: str, spec: Object) -> list[str]:
    """What is warned of a claim wherever it stands: parts of bytes."""
    messages = []
    for field in ("requests", "limits"):
        value = mapping(mapping(spec, "resources"), field).get("storage")
        if value is not None and amount(value).denominator != 1:
            messages.append(
                f"{path}.resources.{field}[storage]: fractional byte value "
                f'"{amount_text(value)}" is invalid, must be an integer'
            )
    return messages


def _claim_update(new: Object, old: Object) -> Errors:
    spec, before = mapping(new, "spec"), mapping(old, "spec")
    now: Object = copy(spec)
    had: Object = copy(before)
    if not text(before, "volumeName"):
        had["volumeName"] = text(spec, "volumeName")
    errors = _storage_class_change(new, old, now)
    if at(new, "status", "phase") == "Bound":
        _forget_growth(now, before)
    diff = changes("PersistentVolumeClaimSpec", had, now)
    if diff:
        sentence = (
            "spec is immutable after creation except resources.requests and "
            f"volumeAttributesClassName for bound claims\n{diff}"
        )
        errors.append(forbidden("spec", sentence))
    errors += _shrunk(spec, before, old)
    return errors + immutable("volumeMode", spec.get("volumeMode", "null"), before.get("volumeMode", "null"))


def _forget_growth(now: Object, before: Object) -> None:
    """Take back what a bound claim may change."""
    if mapping(now, "resources").get("requests") is not None:
        kept = mapping(mapping(before, "resources"), "requests").get("storage", "0")
        now["resources"]["requests"]["storage"] = kept
    if now.get("volumeAttributesClassName") is not None:
        now["volumeAttributesClassName"] = before.get("volumeAttributesClassName")


def _storage_class_change(new: Object, old: Object, now: Object) -> Errors:
    """What may not change of a claim's class; takes back in ``now`` what may."""
    given = at(new, "metadata", "annotations", BETA_CLASS)
    had = at(old, "metadata", "annotations", BETA_CLASS)
    name, before = at(new, "spec", "storageClassName"), at(old, "spec", "storageClassName")
    if had is not None and before is None and name == had and given in (None, had):
        now.pop("storageClassName", None)
        return []
    if before is None and name is not None and had in (None, name):
        now.pop("storageClassName", None)
    if (given or "") == (had or ""):
        return []
    return [invalid(f"metadata.annotations.{BETA_CLASS}", given or "", IMMUTABLE)]


def _shrunk(spec: Object, before: Object, old: Object) -> Errors:
    size_now = amount(at(spec, "resources", "requests", "storage", default="0"))
    size_before = amount(at(before, "resources", "requests", "storage", default="0"))
    held = amount(at(old, "status", "capacity", "storage", default="0"))
    if size_before > size_now <= held:
        message = "field can not be less than status.capacity"
        return [forbidden("spec.resources.requests.storage", message)]
    return []

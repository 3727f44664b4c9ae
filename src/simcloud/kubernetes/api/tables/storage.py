"""Tables of volumes, claims, storage classes and CSI kinds."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, age, amount, items, name, part, text
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, table, wide

_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULTS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_PV, _PVC = "core.v1.PersistentVolume", "core.v1.PersistentVolumeClaim"


def access_modes(found: list[str]) -> str:
    """Access modes in their short names, in the order of all there are."""
    return ",".join(short for mode, short in _MODES.items() if mode in found)


def class_of(obj: Object) -> str:
    """The storage class that a volume or a claim names."""
    old = part(obj, "metadata", "annotations").get(_OLD_CLASS)
    return text(part(obj, "spec"), "storageClassName") if old is None else old


def is_default(obj: Object) -> bool:
    """Whether a storage class is that of claims that name none."""
    annotations = part(obj, "metadata", "annotations")
    return any(annotations.get(key) == "true" for key in _DEFAULTS)


def _phase(obj: Object) -> str:
    if part(obj, "metadata").get("deletionTimestamp"):
        return "Terminating"
    return text(part(obj, "status"), "phase")


def _set(spec: Object, field: str) -> str:
    value = spec.get(field)
    return "<unset>" if value is None else value


@table(
    "",
    "PersistentVolume",
    NAME,
    Column("Capacity", of=f"{_PV}Spec.capacity"),
    Column("Access Modes", of=f"{_PV}Spec.accessModes"),
    Column("Reclaim Policy", of=f"{_PV}Spec.persistentVolumeReclaimPolicy"),
    Column("Status", of=f"{_PV}Status.phase"),
    Column("Claim", of=f"{_PV}Spec.claimRef"),
    Column("StorageClass", "StorageClass of the pv"),
    Column("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
    Column("Reason", of=f"{_PV}Status.reason"),
    AGE,
    wide("VolumeMode", of=f"{_PV}Spec.volumeMode"),
)
def persistent_volume(obj: Object, now_s: float) -> Cells:
    """A volume's row."""
    spec = part(obj, "spec")
    claim = spec.get("claimRef")
    return [
        name(obj),
        amount(part(spec, "capacity").get("storage")),
        access_modes(items(spec, "accessModes")),
        text(spec, "persistentVolumeReclaimPolicy"),
        _phase(obj),
        "" if claim is None else f"{text(claim, 'namespace')}/{text(claim, 'name')}",
        class_of(obj),
        _set(spec, "volumeAttributesClassName"),
        text(part(obj, "status"), "reason"),
        age(obj, now_s),
        _set(spec, "volumeMode"),
    ]


@table(
    "",
    "PersistentVolumeClaim",
    NAME,
    Column("Status", of=f"{_PVC}Status.phase"),
    Column("Volume", of=f"{_PVC}Spec.volumeName"),
    Column("Capacity", of=f"{_PVC}Status.capacity"),
    Column("Access Modes", of=f"{_PVC}Status.accessModes"),
    Column("StorageClass", "StorageClass of the pvc"),
    Column("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
    AGE,
    wide("VolumeMode", of=f"{_PVC}Spec.volumeMode"),
)
def persistent_volume_claim(obj: Object, now_s: float) -> Cells:
    """A claim's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    volume = text(spec, "volumeName")
    return [
        name(obj),
        _phase(obj),
        volume,
        amount(part(status, "capacity").get("storage")) if volume else "",
        access_modes(items(status, "accessModes")) if volume else "",
        class_of(obj),
        _set(spec, "volumeAttributesClassName"),
        age(obj, now_s),
        _set(spec, "volumeMode"),
    ]


_SC = "storage.v1.StorageClass"


@table(
    "storage.k8s.io",
    "StorageClass",
    NAME,
    Column("Provisioner", of=f"{_SC}.provisioner"),
    Column("ReclaimPolicy", of=f"{_SC}.reclaimPolicy"),
    Column("VolumeBindingMode", of=f"{_SC}.volumeBindingMode"),
    Column("AllowVolumeExpansion", of=f"{_SC}.allowVolumeExpansion"),
    AGE,
)
def storage_class(obj: Object, now_s: float) -> Cells:
    """A storage class' row."""
    return [
        name(obj) + (" (default)" if is_default(obj) else ""),
        text(obj, "provisioner"),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now_s),
    ]

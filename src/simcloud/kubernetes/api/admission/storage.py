"""StorageObjectInUseProtection and PersistentVolumeClaimResize: finalizers of claims and volumes, and resizing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.admission.plugin import CLAIMS, Quiet, make_refusal, updates
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_PROTECTED: Final = {
    CLAIMS: "kubernetes.io/pvc-protection",
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
}
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"


class InUseProtection(Quiet):
    """A new claim or volume waits, when it is deleted, for those who use it."""

    resources = tuple(_PROTECTED)

    def admit(self, write: Write) -> None:
        finalizer = _PROTECTED.get(write.resource.key)
        if finalizer is None or write.operation != "CREATE" or write.subresource:
            return
        metadata = write.new["metadata"]
        present = metadata.get("finalizers") or []
        if finalizer not in present:
            metadata["finalizers"] = [*present, finalizer]


class ClaimResize(Quiet):
    """A claim grows only where its class allows it."""

    resources = (CLAIMS,)

    def check(self, write: Write) -> None:
        if not updates(write, CLAIMS) or write.old is None:
            return
        if _size(write.new) <= _size(write.old):
            return
        if at(write.old, "status", "phase") != "Bound":
            raise make_refusal(write, "Only bound persistent volume claims can be expanded")
        name = class_of(write.new)
        found = write.api.log.get(Key("storage.k8s.io", "storageclasses", "", name)) if name else None
        if name != class_of(write.old) or found is None or not found.get("allowVolumeExpansion"):
            raise make_refusal(
                write,
                "only dynamically provisioned pvc can be resized and "
                "the storageclass that provisions the pvc must support resize",
            )


def class_of(claim: Object) -> str:
    """The class that a claim names, in the old way or the new."""
    annotated = at(claim, "metadata", "annotations", _OLD_CLASS)
    return str(annotated if annotated is not None else claim["spec"].get("storageClassName") or "")


def _size(claim: Object) -> int:
    return quantity.whole(at(claim, "spec", "resources", "requests", "storage", default="0"))

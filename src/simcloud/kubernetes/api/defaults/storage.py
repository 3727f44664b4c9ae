"""Defaults of ``storage.k8s.io``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, fill, part
from simcloud.kubernetes.api.defaults.volumes import default_source
from simcloud.kubernetes.api.objects import Object


@defaults("storage.k8s.io", "StorageClass")
def default_storage_class(storage: Object) -> None:
    """Volumes are made at once and deleted after use."""
    fill(storage, reclaimPolicy="Delete", volumeBindingMode="Immediate")


@defaults("storage.k8s.io", "CSIDriver")
def default_csi_driver(driver: Object) -> None:
    """A driver that attaches volumes that persist, and does nothing special."""
    spec = part(driver, "spec")
    fill(
        spec,
        attachRequired=True,
        podInfoOnMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        requiresRepublish=False,
        seLinuxMount=False,
    )
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


@defaults("storage.k8s.io", "VolumeAttachment")
def default_volume_attachment(attachment: Object) -> None:
    """A volume described in place has a volume's defaults."""
    inline = part(part(attachment, "spec"), "source").get("inlineVolumeSpec")
    if inline is not None:
        fill(inline, persistentVolumeReclaimPolicy="Retain", volumeMode="Filesystem")
        default_source(inline)

"""Defaults of ``storage.k8s.io``."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.registry import defaults, fill
from simcloud.kubernetes.api.objects import Object


@defaults("storage.k8s.io", "StorageClass")
def default_storage_class(storage: Object) -> None:
    """Volumes are made at once and deleted after use."""
    fill(storage, reclaimPolicy="Delete", volumeBindingMode="Immediate")

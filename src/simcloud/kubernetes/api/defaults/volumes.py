"""Defaults of the volumes of a pod and of a PersistentVolume."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.defaults.images import pull_policy
from simcloud.kubernetes.api.defaults.registry import each, fill
from simcloud.kubernetes.api.objects import Object, copy

_READABLE = 0o644

_SOURCES: dict[str, dict[str, Any]] = {
    "configMap": {"defaultMode": _READABLE},
    "downwardAPI": {"defaultMode": _READABLE},
    "hostPath": {"type": ""},
    "projected": {"defaultMode": _READABLE},
    "secret": {"defaultMode": _READABLE},
}


def default_volume(volume: Object) -> None:
    """A volume of a pod; one that names no source is an empty directory."""
    if not any(isinstance(source, dict) for source in volume.values()):
        volume["emptyDir"] = {}
    default_source(volume)
    image = volume.get("image")
    if image is not None:
        fill(image, pullPolicy=pull_policy(image.get("reference", "")))
    _default_downward(volume.get("downwardAPI", {}))
    for source in each(volume.get("projected", {}), "sources"):
        _default_downward(source.get("downwardAPI", {}))
        if "serviceAccountToken" in source:
            fill(source["serviceAccountToken"], expirationSeconds=3600)
    template = volume.get("ephemeral", {}).get("volumeClaimTemplate")
    if template is not None:
        fill(template.setdefault("spec", {}), volumeMode="Filesystem")


def default_source(holder: Object) -> None:
    """The source that a volume or a PersistentVolume names."""
    for name, values in _SOURCES.items():
        if name in holder:
            fill(holder[name], **copy(values))


def _default_downward(source: Object) -> None:
    for item in each(source, "items"):
        if "fieldRef" in item:
            fill(item["fieldRef"], apiVersion="v1")

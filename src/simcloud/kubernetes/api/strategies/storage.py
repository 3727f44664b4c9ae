"""Strategies of PersistentVolumes and PersistentVolumeClaims."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.strategies.registry import on_create, on_update

_COPIED_FROM = {("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")}


@on_create("", "PersistentVolume")
def create_volume(volume: Object) -> None:
    """Pending since its creation."""
    volume["status"] = {"phase": "Pending"}
    if "creationTimestamp" in volume["metadata"]:
        volume["status"]["lastPhaseTransitionTime"] = volume["metadata"]["creationTimestamp"]


@on_create("", "PersistentVolumeClaim")
def create_claim(claim: Object) -> None:
    """Pending, with its data source said in both ways."""
    claim["status"] = {"phase": "Pending"}
    spec = claim.setdefault("spec", {})
    source = spec.get("dataSource")
    if source is not None and (source.get("apiGroup") or "", source.get("kind", "")) not in _COPIED_FROM:
        del spec["dataSource"]
    _align_sources(spec)


@on_update("", "PersistentVolumeClaim")
def update_claim(new: Object, _old: Object) -> None:
    """The data source in both ways, as on creation."""
    _align_sources(new.setdefault("spec", {}))


def _align_sources(spec: Object) -> None:
    if "dataSource" in spec:
        spec.setdefault("dataSourceRef", copy(spec["dataSource"]))
    elif not spec.get("dataSourceRef", {"namespace": "none"}).get("namespace"):
        reference = spec["dataSourceRef"]
        spec["dataSource"] = {field: value for field, value in reference.items() if field != "namespace"}


def note_change(resource: Resource, new: Object, old: Object, now: str) -> None:
    """Write the time of a change of status where this kind keeps it."""
    if (resource.group, resource.kind) == ("", "PersistentVolume"):
        _note_phase_time(new, old, now)


def _note_phase_time(new: Object, old: Object, now: str) -> None:
    status, before = new.setdefault("status", {}), old.get("status", {})
    noted = status.get("lastPhaseTransitionTime")
    if status.get("phase") != before.get("phase") and noted in (None, before.get("lastPhaseTransitionTime")):
        status["lastPhaseTransitionTime"] = now

"""Statuses that say when they changed, without their writer having to."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource


def note_change(resource: Resource, new: Object, old: Object, now: str) -> None:
    """Write the time of a change of status where this kind keeps it."""
    if (resource.group, resource.kind) == ("", "PersistentVolume"):
        _note_phase_time(new, old, now)


def _note_phase_time(new: Object, old: Object, now: str) -> None:
    status, before = new.setdefault("status", {}), old.get("status", {})
    noted = status.get("lastPhaseTransitionTime")
    if status.get("phase") != before.get("phase") and noted in (None, before.get("lastPhaseTransitionTime")):
        status["lastPhaseTransitionTime"] = now

"""Statuses that say when they changed, without their writer having to."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.resources import Resource


def note_change(resource: Resource, new: Object, old: Object, now: str) -> None:
    """Write the time of a change of status where this kind keeps it."""
    if (resource.group, resource.kind) == ("", "PersistentVolume"):
        _note_phase_time(new, old, now)
    if (resource.group, resource.kind) == ("certificates.k8s.io", "CertificateSigningRequest"):
        note_decision_times(new, old, now)


def note_decision_times(new: Object, old: Object, now: str) -> None:
    """A condition of a signing request was updated now, and changed now unless its value is the old one."""
    before = {one.get("type"): one for one in old.get("status", {}).get("conditions", ())}
    for condition in new.get("status", {}).get("conditions", ()):
        known = before.get(condition.get("type"), {})
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            unchanged = known.get("status") == condition.get("status") and known.get("lastTransitionTime")
            condition["lastTransitionTime"] = known["lastTransitionTime"] if unchanged else now


def _note_phase_time(new: Object, old: Object, now: str) -> None:
    status, before = new.setdefault("status", {}), old.get("status", {})
    noted = status.get("lastPhaseTransitionTime")
    if status.get("phase") != before.get("phase") and noted in (None, before.get("lastPhaseTransitionTime")):
        status["lastPhaseTransitionTime"] = now

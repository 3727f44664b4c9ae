"""The conditions of a job."""

from __future__ import annotations

from collections.abc import Iterable

from simcloud.kubernetes.api.objects import Object


def condition(kind: str, reason: str, message: str, now: str, status: str = "True") -> Object:
    """A condition that holds, or does not, since now."""
    return {
        "lastProbeTime": now,
        "lastTransitionTime": now,
        "message": message,
        "reason": reason,
        "status": status,
        "type": kind,
    }


def find_condition(job: Object, kind: str) -> Object | None:
    """The condition of a kind, if it holds."""
    conditions: Iterable[Object] = job.get("status", {}).get("conditions") or ()
    return next(
        (
            candidate
            for candidate in conditions
            if candidate["type"] == kind and candidate["status"] == "True"
        ),
        None,
    )


def ending(job: Object) -> str:
    """``Complete`` or ``Failed``, or nothing while the job is not over."""
    return next((kind for kind in ("Complete", "Failed") if find_condition(job, kind) is not None), "")


def put(job: Object, wanted: Object) -> bool:
    """Add a condition or change it; True if that was needed. One that does not hold is never added."""
    conditions = job.setdefault("status", {}).setdefault("conditions", [])
    for place, present in enumerate(conditions):
        if present["type"] == wanted["type"]:
            same = all(present.get(part) == wanted[part] for part in ("status", "reason", "message"))
            if not same:
                conditions[place] = wanted
            return not same
    if wanted["status"] == "True":
        conditions.append(wanted)
        return True
    return False

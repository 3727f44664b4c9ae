"""The status of a Deployment: the sums of its ReplicaSets, and its conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.times import parse, rfc3339
from simcloud.kubernetes.controllers.deployments.sets import max_unavailable, replicas, total_status_count

NEW_AVAILABLE: Final = "NewReplicaSetAvailable"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
PAUSED: Final = "DeploymentPaused"
_NO_DEADLINE: Final = 2**31 - 1


def has_deadline(deployment: Object) -> bool:
    """Whether a rollout without progress is reported."""
    deadline: int = deployment["spec"].get("progressDeadlineSeconds", _NO_DEADLINE)
    return deadline != _NO_DEADLINE


def condition(kind: str, status: str, reason: str, message: str, now_s: float) -> Object:
    """A condition that came about now."""
    now = rfc3339(now_s)
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def get_condition(status: Object, kind: str) -> Object | None:
    """A condition of a status, if it has that one."""
    return next(
        (candidate for candidate in status.get("conditions") or () if candidate.get("type") == kind), None
    )


def set_condition(status: Object, new: Object) -> None:
    """Put a condition last, unless it says nothing new; the same status keeps the time of its transition."""
    known = get_condition(status, new["type"])
    if known is not None:
        if (known.get("status"), known.get("reason")) == (new["status"], new["reason"]):
            return
        if known.get("status") == new["status"] and known.get("lastTransitionTime"):
            new["lastTransitionTime"] = known["lastTransitionTime"]
    remove_condition(status, new["type"])
    status.setdefault("conditions", []).append(new)


def remove_condition(status: Object, kind: str) -> None:
    """Take a condition away."""
    others = [other for other in status.get("conditions") or () if other.get("type") != kind]
    status.pop("conditions", None)
    if others:
        status["conditions"] = others


def calculate(deployment: Object, sets: Sequence[Object], new: Object | None, now_s: float) -> Object:
    """The counts, and whether enough pods are available."""
    before = deployment.get("status", {})
    available = total_status_count(sets, "availableReplicas")
    total = total_status_count(sets, "replicas")
    counts = {
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": total,
        "updatedReplicas": total_status_count([new], "replicas") if new is not None else 0,
        "readyReplicas": total_status_count(sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total - available),
    }
    status: Object = {key: count for key, count in counts.items() if count}
    status["terminatingReplicas"] = total_status_count(sets, "terminatingReplicas")
    if "collisionCount" in before:
        status["collisionCount"] = before["collisionCount"]
    if before.get("conditions"):
        status["conditions"] = copy(before["conditions"])
    if available >= replicas(deployment) - max_unavailable(deployment):
        reason, message, holds = "MinimumReplicasAvailable", "Deployment has minimum availability.", "True"
    else:
        reason = "MinimumReplicasUnavailable"
        message, holds = "Deployment does not have minimum availability.", "False"
    set_condition(status, condition("Available", holds, reason, message, now_s))
    return status


def is_complete(deployment: Object, status: Object) -> bool:
    """Whether all pods are new and available, and no old one is left."""
    wanted = replicas(deployment)
    counts = (status.get(key, 0) for key in ("updatedReplicas", "replicas", "availableReplicas"))
    observed: int = status.get("observedGeneration", 0)
    return all(count == wanted for count in counts) and observed >= deployment["metadata"]["generation"]


def judge_progress(deployment: Object, status: Object, new: Object | None, now_s: float) -> None:
    """Write into a new status how the rollout goes, compared with the status before."""
    before = deployment.get("status", {})
    if not has_deadline(deployment):
        remove_condition(status, "Progressing")
        return
    current = get_condition(before, "Progressing")
    settled = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    if settled and current is not None and current.get("reason") == NEW_AVAILABLE:
        return
    subject = (
        f'Deployment "{deployment["metadata"]["name"]}"'
        if new is None
        else f'ReplicaSet "{new["metadata"]["name"]}"'
    )
    if is_complete(deployment, status):
        message = f"{subject} has successfully progressed."
        set_condition(status, condition("Progressing", "True", NEW_AVAILABLE, message, now_s))
    elif _is_progressing(before, status):
        moving = condition("Progressing", "True", "ReplicaSetUpdated", f"{subject} is progressing.", now_s)
        if current is not None and current.get("status") == "True" and current.get("lastTransitionTime"):
            moving["lastTransitionTime"] = current["lastTransitionTime"]
        remove_condition(status, "Progressing")
        set_condition(status, moving)
    elif _is_timed_out(deployment, status, now_s):
        message = f"{subject} has timed out progressing."
        set_condition(status, condition("Progressing", "False", TIMED_OUT, message, now_s))


def _is_progressing(before: Object, now: Object) -> bool:
    def old_pods(status: Object) -> int:
        count: int = status.get("replicas", 0) - status.get("updatedReplicas", 0)
        return count

    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    return old_pods(now) < old_pods(before) or any(now.get(key, 0) > before.get(key, 0) for key in grown)


def _is_timed_out(deployment: Object, status: Object, now_s: float) -> bool:
    current = get_condition(status, "Progressing")
    if current is None or current.get("reason") == NEW_AVAILABLE:
        return False
    return current.get("reason") == TIMED_OUT or _deadline_s(deployment, current) < now_s


def _deadline_s(deployment: Object, current: Object) -> float:
    allowed_s: int = deployment["spec"]["progressDeadlineSeconds"]
    updated = current.get("lastUpdateTime")
    return (parse(updated) if updated else 0.0) + allowed_s


def deadline_in_s(deployment: Object, status: Object, now_s: float) -> float | None:
    """In how many seconds a rollout may be found stuck; None if it cannot be."""
    current = get_condition(deployment.get("status", {}), "Progressing")
    if not has_deadline(deployment) or current is None:
        return None
    if is_complete(deployment, status) or current.get("reason") == TIMED_OUT:
        return None
    return _deadline_s(deployment, current) - now_s


def take_failure(status: Object, sets: Sequence[Object], new: Object | None, now_s: float) -> None:
    """Show that a ReplicaSet cannot make or delete pods, the new one's reason first."""
    for replica_set in (*([new] if new is not None else []), *sets):
        failure = get_condition(replica_set.get("status", {}), "ReplicaFailure")
        if failure is not None:
            failure_status, reason, message = (
                failure.get(key, "") for key in ("status", "reason", "message")
            )
            shown = condition("ReplicaFailure", failure_status, reason, message, now_s)
            if failure.get("lastTransitionTime"):
                shown["lastTransitionTime"] = shown["lastUpdateTime"] = failure["lastTransitionTime"]
            set_condition(status, shown)
            return
    remove_condition(status, "ReplicaFailure")

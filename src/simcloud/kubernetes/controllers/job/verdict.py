"""Whether a job is over and why: the condition for it, or None."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controllers.job.conditions import condition, find_condition
from simcloud.kubernetes.controllers.job.policies import judge
from simcloud.kubernetes.controllers.job.snapshot import JobSnapshot

TARGET, MET = "FailureTarget", "SuccessCriteriaMet"


def verdict(snapshot: JobSnapshot, now_s: float, now: str) -> Object | None:
    """The condition under which a job's pods are to go, before its completions are looked at."""
    return (
        find_condition(snapshot.job, MET)
        or find_condition(snapshot.job, TARGET)
        or _policy(snapshot, now)
        or _limits(snapshot, now_s, now)
        or _indexes(snapshot, now)
    )


def find_completion(snapshot: JobSnapshot, now: str) -> Object | None:
    """Success, once enough pods succeeded and none is active."""
    enough = (
        snapshot.succeeded > 0 if snapshot.completions is None else snapshot.succeeded >= snapshot.completions
    )
    if not enough or snapshot.active_count:
        return None
    return condition(MET, "CompletionsReached", "Reached expected number of succeeded pods", now)


def deadline_in_s(snapshot: JobSnapshot, now_s: float) -> float | None:
    """After how many seconds the job has been active for too long; None if it may be for ever."""
    limit_s, started = snapshot.spec.get("activeDeadlineSeconds"), snapshot.status.get("startTime")
    if limit_s is None or started is None or snapshot.suspended:
        return None
    return parse(started) + float(limit_s) - now_s


def _policy(snapshot: JobSnapshot, now: str) -> Object | None:
    for pod in snapshot.pods if snapshot.failure_policy else ():
        if snapshot.has_failed(pod):
            message = judge(snapshot.failure_policy, pod).message
            if message:
                return condition(TARGET, "PodFailurePolicy", message, now)
    return None


def _limits(snapshot: JobSnapshot, now_s: float, now: str) -> Object | None:
    if snapshot.failed > snapshot.spec["backoffLimit"] or _has_too_many_restarts(snapshot):
        message = "Job has reached the specified backoff limit"
        return condition(TARGET, "BackoffLimitExceeded", message, now)
    left_s = deadline_in_s(snapshot, now_s)
    if left_s is not None and left_s <= 0:
        message = "Job was active longer than specified deadline"
        return condition(TARGET, "DeadlineExceeded", message, now)
    return None


def _has_too_many_restarts(snapshot: JobSnapshot) -> bool:
    if snapshot.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    limit: int = snapshot.spec["backoffLimit"]
    restarts: int = sum(
        container.get("restartCount", 0)
        for pod in snapshot.pods
        if pod.get("status", {}).get("phase") in ("Running", "Pending")
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in pod["status"].get(kind) or ()
    )
    return restarts > 0 if limit == 0 else restarts >= limit


def _indexes(snapshot: JobSnapshot, now: str) -> Object | None:
    if not snapshot.indexed:
        return None
    if snapshot.per_index is not None:
        failed, most = len(snapshot.failed_indexes), snapshot.spec.get("maxFailedIndexes")
        if most is not None and failed > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return condition(TARGET, "MaxFailedIndexesExceeded", message, now)
        if failed and failed + len(snapshot.succeeded_indexes) >= (snapshot.completions or 0):
            return condition(TARGET, "FailedIndexes", "Job has failed indexes", now)
    return None

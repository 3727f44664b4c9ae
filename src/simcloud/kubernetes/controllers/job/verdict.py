"""Whether a job is over, and why: the condition that says so, or none."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controllers.job.conditions import condition, find_condition
from simcloud.kubernetes.controllers.job.look import Look
from simcloud.kubernetes.controllers.job.policies import judge

TARGET, MET = "FailureTarget", "SuccessCriteriaMet"


def verdict(look: Look, now_s: float, now: str) -> Object | None:
    """The condition under which a job's pods are to go, before its completions are looked at."""
    return (
        find_condition(look.job, MET)
        or find_condition(look.job, TARGET)
        or _policy(look, now)
        or _limits(look, now_s, now)
        or _indexes(look, now)
    )


def find_completion(look: Look, now: str) -> Object | None:
    """Success, once enough pods succeeded and none is active."""
    enough = look.succeeded > 0 if look.completions is None else look.succeeded >= look.completions
    if not enough or look.active_count:
        return None
    return condition(MET, "CompletionsReached", "Reached expected number of succeeded pods", now)


def deadline_in_s(look: Look, now_s: float) -> float | None:
    """After how many seconds the job has been active for too long; None if it may be for ever."""
    limit_s, started = look.spec.get("activeDeadlineSeconds"), look.status.get("startTime")
    if limit_s is None or started is None or look.suspended:
        return None
    return parse(started) + float(limit_s) - now_s


def _policy(look: Look, now: str) -> Object | None:
    for pod in look.pods if look.failure_policy else ():
        if look.has_failed(pod):
            message = judge(look.failure_policy, pod).message
            if message:
                return condition(TARGET, "PodFailurePolicy", message, now)
    return None


def _limits(look: Look, now_s: float, now: str) -> Object | None:
    if look.failed > look.spec["backoffLimit"] or _has_too_many_restarts(look):
        message = "Job has reached the specified backoff limit"
        return condition(TARGET, "BackoffLimitExceeded", message, now)
    left_s = deadline_in_s(look, now_s)
    if left_s is not None and left_s <= 0:
        message = "Job was active longer than specified deadline"
        return condition(TARGET, "DeadlineExceeded", message, now)
    return None


def _has_too_many_restarts(look: Look) -> bool:
    if look.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    limit: int = look.spec["backoffLimit"]
    restarts: int = sum(
        container.get("restartCount", 0)
        for pod in look.pods
        if pod.get("status", {}).get("phase") in ("Running", "Pending")
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in pod["status"].get(kind) or ()
    )
    return restarts > 0 if limit == 0 else restarts >= limit


def _indexes(look: Look, now: str) -> Object | None:
    if not look.indexed:
        return None
    if look.per_index is not None:
        failed, most = len(look.failed_indexes), look.spec.get("maxFailedIndexes")
        if most is not None and failed > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return condition(TARGET, "MaxFailedIndexesExceeded", message, now)
        if failed and failed + len(look.succeeded_indexes) >= (look.completions or 0):
            return condition(TARGET, "FailedIndexes", "Job has failed indexes", now)
    return None

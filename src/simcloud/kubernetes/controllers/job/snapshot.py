"""A snapshot of a job: its pods and the counts derived from them.

An ended pod counts while it has the tracking finalizer, or while its uid is listed as uncounted in the job's status;
after that it is part of the status' counters. So no pod is counted twice or missed, whatever is deleted when.
"""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.controllers.job.backoff import Backoff, end_time_s
from simcloud.kubernetes.controllers.job.indexes import Indexes, index_of
from simcloud.kubernetes.controllers.job.policies import judge
from simcloud.kubernetes.controllers.pods import is_active, is_ready, is_terminating

TRACKING: Final = "batch.kubernetes.io/job-tracking"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES: Final = "batch.kubernetes.io/job-index-ignored-failure-count"


class JobSnapshot:
    """What is seen of a job at one instant. ``job`` is a copy, for the status that comes of it."""

    def __init__(self, job: Object, pods: list[Object], backoff: Backoff) -> None:
        self.job: Object = copy(job)
        self.spec: Object = self.job["spec"]
        self.status: Object = self.job.setdefault("status", {})
        self.indexed = self.spec.get("completionMode") == "Indexed"
        self.completions: int | None = self.spec.get("completions")
        self.per_index: int | None = self.spec.get("backoffLimitPerIndex")
        self.failure_policy: Object | None = self.spec.get("podFailurePolicy")
        self.replaces_failed_only = self.spec.get("podReplacementPolicy") == "Failed"
        self.suspended = bool(self.spec.get("suspend"))
        self.leaving = "deletionTimestamp" in job["metadata"]
        self.pods = sorted(pods, key=lambda pod: index_of(pod) or 0) if self.indexed else pods
        self.active = [pod for pod in pods if is_active(pod)]
        self.active_count = len(self.active)
        self.ready_count = sum(1 for pod in self.active if is_ready(pod))
        self.terminating_count = sum(1 for pod in pods if is_terminating(pod))
        self._count(backoff)
        self.succeeded_indexes = Indexes()
        self.counted_indexes = Indexes()
        self.failed_indexes = Indexes()
        self.awaiting: dict[int, Object] = {}
        """By index, the failed pod that waits for its replacement, which must know of its failures."""
        if self.indexed:
            self._count_indexes()

    def _count(self, backoff: Backoff) -> None:
        uncounted = self.status.get("uncountedTerminatedPods") or {}
        self.uncounted_succeeded: list[str] = list(uncounted.get("succeeded") or ())
        self.uncounted_failed: list[str] = list(uncounted.get("failed") or ())
        fresh = [pod for pod in self.pods if is_tracked(pod) and self._in_range(pod)]
        succeeded = [
            pod for pod in fresh if has_succeeded(pod) and uid_of(pod) not in self.uncounted_succeeded
        ]
        failed = [pod for pod in fresh if self.has_failed(pod) and uid_of(pod) not in self.uncounted_failed]
        self.backoff = backoff.after(succeeded, failed)
        self.succeeded: int = self.status.get("succeeded", 0) + len(succeeded) + len(self.uncounted_succeeded)
        self.failed: int = (
            self.status.get("failed", 0)
            + sum(1 for pod in failed if judge(self.failure_policy, pod).counts)
            + len(self.uncounted_failed)
        )

    def _count_indexes(self) -> None:
        limit = self.completions or 0
        ended = [pod for pod in self.pods if is_tracked(pod) and self._in_range(pod)]
        self.counted_indexes = Indexes.parse(self.status.get("completedIndexes", ""), limit)
        self.succeeded_indexes = self.counted_indexes.plus(
            index for pod in ended if has_succeeded(pod) and (index := index_of(pod)) is not None
        )
        self.succeeded = len(self.succeeded_indexes)
        if self.per_index is None:
            return
        self.failed_indexes = Indexes.parse(self.status.get("failedIndexes", ""), limit).plus(
            index for pod in ended if self._fails_index(pod) and (index := index_of(pod)) is not None
        )
        self._find_awaiting(ended)

    def _fails_index(self, pod: Object) -> bool:
        if not self.has_failed(pod):
            return False
        judgement = judge(self.failure_policy, pod)
        if judgement.action == "FailIndex":
            return True
        return judgement.counts and failures_of(pod)[0] >= (self.per_index or 0)

    def _find_awaiting(self, ended: list[Object]) -> None:
        running = {index_of(pod) for pod in self.active}
        for pod in ended:
            index = index_of(pod)
            if index is None or not self.has_failed(pod) or index in running:
                continue
            if index in self.succeeded_indexes or index in self.failed_indexes:
                continue
            known = self.awaiting.get(index)
            if known is None or _rank(pod) >= _rank(known):
                self.awaiting[index] = pod

    def _in_range(self, pod: Object) -> bool:
        index = index_of(pod)
        return not self.indexed or (index is not None and index < (self.completions or 0))

    def has_failed(self, pod: Object) -> bool:
        """Whether a pod counts as failed: one that is being deleted may never get to say so itself."""
        phase = pod.get("status", {}).get("phase")
        if phase == "Failed":
            return True
        if self.replaces_failed_only:
            return False
        return "deletionTimestamp" in pod["metadata"] and phase != "Succeeded"

    def counts_as_failed(self, pod: Object) -> bool:
        """Whether a failed pod is to be added to the job's failures."""
        return self._in_range(pod) and judge(self.failure_policy, pod).counts


def has_succeeded(pod: Object) -> bool:
    """Whether a pod ended well."""
    return bool(pod.get("status", {}).get("phase") == "Succeeded")


def is_tracked(pod: Object) -> bool:
    """Whether a pod is still to be counted."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def uid_of(pod: Object) -> str:
    """A pod's uid."""
    uid: str = pod["metadata"]["uid"]
    return uid


def failures_of(pod: Object) -> tuple[int, int]:
    """How often a pod's index had failed before it: failures that counted, and ignored ones."""
    annotations = pod["metadata"].get("annotations") or {}
    values = (annotations.get(name, "0") for name in (FAILURES, IGNORED_FAILURES))
    counted, ignored = (int(text) if text.isascii() and text.isdecimal() else 0 for text in values)
    return counted, ignored


def _rank(pod: Object) -> tuple[int, float]:
    return sum(failures_of(pod)), end_time_s(pod)

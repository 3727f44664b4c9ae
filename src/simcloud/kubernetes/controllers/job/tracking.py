"""Counting of ended pods, exactly once each, and the final status of a job.

The uids of newly ended pods are first written to the job's status as uncounted, then their finalizer is removed, and
only then are they added to the counters: after an interruption the controller continues from the stored state.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.job.conditions import condition, put
from simcloud.kubernetes.controllers.job.indexes import index_of
from simcloud.kubernetes.controllers.job.parallelism import PodScaler
from simcloud.kubernetes.controllers.job.snapshot import JobSnapshot, has_succeeded, is_tracked, uid_of
from simcloud.kubernetes.controllers.job.verdict import MET, TARGET

MOST_UNCOUNTED: Final = 500
FINAL: Final = {TARGET: "Failed", MET: "Complete"}


class Ended(NamedTuple):
    """Pods whose finalizer is to go, and whether they are all there are."""

    pods: list[Object]
    all: bool


class Tracking:
    """Writes the status of jobs."""

    def __init__(self, client: ComponentClient, scaler: PodScaler) -> None:
        self._client = client
        self._scaler = scaler

    def note(self, snapshot: JobSnapshot, finish: Object | None) -> Ended:
        """Write what a snapshot showed, with the pods that ended as uncounted."""
        ended, complete = self._note_ended(snapshot, finish)
        self._write_counts(snapshot)
        if finish is not None:
            put(snapshot.job, finish)
        self._flush(snapshot)
        return Ended(ended, complete)

    def settle(self, snapshot: JobSnapshot, ended: Ended, finish: Object | None) -> Object | None:
        """Count the pods that ended. Returns the last condition of a job that is over now.

        ApiError: the status or a pod was refused; what was done until then is stored.
        """
        refusal = self._untrack(ended.pods)
        self._settle_counts(snapshot)
        final = self._final(snapshot, finish) if ended.all and refusal is None else None
        if final is not None:
            put(snapshot.job, final)
            if final["type"] == "Complete":
                snapshot.status["completionTime"] = final["lastTransitionTime"]
        self._flush(snapshot)
        if refusal is not None:
            raise refusal
        return final

    def _note_ended(self, snapshot: JobSnapshot, finish: Object | None) -> tuple[list[Object], bool]:
        """The pods whose finalizer goes, now noted as uncounted; and whether these are all."""
        ended: list[Object] = []
        for pod in snapshot.pods:
            if not is_tracked(pod) or not self._may_go(snapshot, pod, finish):
                continue
            if len(snapshot.uncounted_succeeded) + len(snapshot.uncounted_failed) >= MOST_UNCOUNTED:
                return ended, False
            ended.append(pod)
            self._note_uncounted(snapshot, pod, failing=finish is not None and finish["type"] == TARGET)
        return ended, True

    def _note_uncounted(self, snapshot: JobSnapshot, pod: Object, failing: bool) -> None:
        """Of a job that fails, every pod that has not succeeded has failed. Indexes are their own count."""
        uid = uid_of(pod)
        if uid in snapshot.uncounted_failed:
            return
        if has_succeeded(pod):
            if not snapshot.indexed and uid not in snapshot.uncounted_succeeded:
                snapshot.uncounted_succeeded.append(uid)
        elif (failing or snapshot.has_failed(pod)) and snapshot.counts_as_failed(pod):
            snapshot.uncounted_failed.append(uid)

    def _may_go(self, snapshot: JobSnapshot, pod: Object, finish: Object | None) -> bool:
        if snapshot.leaving or finish is not None or has_succeeded(pod):
            return True
        if not snapshot.has_failed(pod):
            return False
        index = index_of(pod)
        awaiting = snapshot.awaiting.get(index) if index is not None else None
        return awaiting is None or uid_of(awaiting) != uid_of(pod)

    def _write_counts(self, snapshot: JobSnapshot) -> None:
        status = snapshot.status
        _set(status, "active", snapshot.active_count)
        status["ready"] = snapshot.ready_count
        status["terminating"] = snapshot.terminating_count
        if snapshot.indexed:
            _set(status, "succeeded", len(snapshot.succeeded_indexes))
            _set(status, "completedIndexes", str(snapshot.succeeded_indexes))
            if snapshot.per_index is not None:
                status["failedIndexes"] = str(snapshot.failed_indexes)
        self._write_uncounted(snapshot)

    def _write_uncounted(self, snapshot: JobSnapshot) -> None:
        uncounted: Object = {}
        _set(uncounted, "succeeded", list(snapshot.uncounted_succeeded))
        _set(uncounted, "failed", list(snapshot.uncounted_failed))
        snapshot.status["uncountedTerminatedPods"] = uncounted

    def _untrack(self, ended: list[Object]) -> ApiError | None:
        refusal = None
        for pod in ended:
            try:
                self._scaler.untrack(pod)
            except ApiError as error:
                refusal = error
        return refusal

    def _settle_counts(self, snapshot: JobSnapshot) -> None:
        """Those without a finalizer, or gone, move from the uncounted to the counters."""
        tracked = {
            uid_of(pod)
            for known in snapshot.pods
            if (pod := self._client.refresh(known)) is not None and is_tracked(pod)
        }
        for key, uncounted in (
            ("succeeded", snapshot.uncounted_succeeded),
            ("failed", snapshot.uncounted_failed),
        ):
            left = [uid for uid in uncounted if uid in tracked]
            if len(left) != len(uncounted):
                snapshot.status[key] = snapshot.status.get(key, 0) + len(uncounted) - len(left)
                uncounted[:] = left
        self._write_uncounted(snapshot)

    def _final(self, snapshot: JobSnapshot, finish: Object | None) -> Object | None:
        """The last condition; a job is not over while pods are uncounted or still ending."""
        if (
            finish is None
            or snapshot.uncounted_succeeded
            or snapshot.uncounted_failed
            or snapshot.terminating_count
        ):
            return None
        now = self._client.api.timestamp()
        return condition(FINAL[finish["type"]], finish["reason"], finish["message"], now)

    def _flush(self, snapshot: JobSnapshot) -> None:
        stored = self._client.refresh(snapshot.job)
        if stored is not None and snapshot.status == stored.get("status"):
            return
        written = self._client.update_status(snapshot.job)
        snapshot.job["metadata"] = copy(written["metadata"])


def _set(holder: Object, name: str, value: object) -> None:
    """Go leaves out what is empty."""
    if value:
        holder[name] = value
    else:
        holder.pop(name, None)

"""Counting the pods that ended, exactly once each, and the last word on a job.

First the uids of newly ended pods are written to the job's status as uncounted, then their finalizer is
taken off, and only then do they move to the counters: whoever stops in between can go on from what is
stored.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.job.conditions import condition, put
from simcloud.kubernetes.controllers.job.indexes import index_of
from simcloud.kubernetes.controllers.job.look import Look, has_succeeded, is_tracked, uid_of
from simcloud.kubernetes.controllers.job.parallelism import Staffing
from simcloud.kubernetes.controllers.job.verdict import MET, TARGET

MOST_UNCOUNTED: Final = 500
FINAL: Final = {TARGET: "Failed", MET: "Complete"}


class Ended(NamedTuple):
    """Pods whose finalizer is to go, and whether they are all there are."""

    pods: list[Object]
    all: bool


class Tracking:
    """Writes the status of jobs."""

    def __init__(self, client: ComponentClient, staffing: Staffing) -> None:
        self._client = client
        self._staffing = staffing

    def note(self, look: Look, finish: Object | None) -> Ended:
        """Write what a look showed, with the pods that ended as uncounted."""
        ended, complete = self._note_ended(look, finish)
        self._write_counts(look)
        if finish is not None:
            put(look.job, finish)
        self._flush(look)
        return Ended(ended, complete)

    def settle(self, look: Look, ended: Ended, finish: Object | None) -> Object | None:
        """Count the pods that ended. Returns the last condition of a job that is over now.

        ApiError: the status or a pod was refused; what was done until then is stored.
        """
        refusal = self._untrack(ended.pods)
        self._settle_counts(look)
        final = self._final(look, finish) if ended.all and refusal is None else None
        if final is not None:
            put(look.job, final)
            if final["type"] == "Complete":
                look.status["completionTime"] = final["lastTransitionTime"]
        self._flush(look)
        if refusal is not None:
            raise refusal
        return final

    def _note_ended(self, look: Look, finish: Object | None) -> tuple[list[Object], bool]:
        """The pods whose finalizer goes, now noted as uncounted; and whether these are all."""
        ended: list[Object] = []
        for pod in look.pods:
            if not is_tracked(pod) or not self._may_go(look, pod, finish):
                continue
            if len(look.uncounted_succeeded) + len(look.uncounted_failed) >= MOST_UNCOUNTED:
                return ended, False
            ended.append(pod)
            self._note_uncounted(look, pod, failing=finish is not None and finish["type"] == TARGET)
        return ended, True

    def _note_uncounted(self, look: Look, pod: Object, failing: bool) -> None:
        """Of a job that fails, every pod that has not succeeded has failed. Indexes are their own count."""
        uid = uid_of(pod)
        if uid in look.uncounted_failed:
            return
        if has_succeeded(pod):
            if not look.indexed and uid not in look.uncounted_succeeded:
                look.uncounted_succeeded.append(uid)
        elif (failing or look.has_failed(pod)) and look.counts_as_failed(pod):
            look.uncounted_failed.append(uid)

    def _may_go(self, look: Look, pod: Object, finish: Object | None) -> bool:
        if look.leaving or finish is not None or has_succeeded(pod):
            return True
        if not look.has_failed(pod):
            return False
        index = index_of(pod)
        awaiting = look.awaiting.get(index) if index is not None else None
        return awaiting is None or uid_of(awaiting) != uid_of(pod)

    def _write_counts(self, look: Look) -> None:
        status = look.status
        _set(status, "active", look.active_count)
        status["ready"] = look.ready_count
        status["terminating"] = look.terminating_count
        if look.indexed:
            _set(status, "succeeded", len(look.succeeded_indexes))
            _set(status, "completedIndexes", str(look.succeeded_indexes))
            if look.per_index is not None:
                status["failedIndexes"] = str(look.failed_indexes)
        self._write_uncounted(look)

    def _write_uncounted(self, look: Look) -> None:
        uncounted: Object = {}
        _set(uncounted, "succeeded", list(look.uncounted_succeeded))
        _set(uncounted, "failed", list(look.uncounted_failed))
        look.status["uncountedTerminatedPods"] = uncounted

    def _untrack(self, ended: list[Object]) -> ApiError | None:
        refusal = None
        for pod in ended:
            try:
                self._staffing.untrack(pod)
            except ApiError as error:
                refusal = error
        return refusal

    def _settle_counts(self, look: Look) -> None:
        """Those without a finalizer, or gone, move from the uncounted to the counters."""
        tracked = {
            uid_of(pod)
            for known in look.pods
            if (pod := self._client.refresh(known)) is not None and is_tracked(pod)
        }
        for key, uncounted in (("succeeded", look.uncounted_succeeded), ("failed", look.uncounted_failed)):
            left = [uid for uid in uncounted if uid in tracked]
            if len(left) != len(uncounted):
                look.status[key] = look.status.get(key, 0) + len(uncounted) - len(left)
                uncounted[:] = left
        self._write_uncounted(look)

    def _final(self, look: Look, finish: Object | None) -> Object | None:
        """The last condition; a job is not over while pods are uncounted or still ending."""
        if finish is None or look.uncounted_succeeded or look.uncounted_failed or look.terminating_count:
            return None
        now = self._client.api.timestamp()
        return condition(FINAL[finish["type"]], finish["reason"], finish["message"], now)

    def _flush(self, look: Look) -> None:
        stored = self._client.refresh(look.job)
        if stored is not None and look.status == stored.get("status"):
            return
        written = self._client.update_status(look.job)
        look.job["metadata"] = copy(written["metadata"])


def _set(holder: Object, name: str, value: object) -> None:
    """Go leaves out what is empty."""
    if value:
        holder[name] = value
    else:
        holder.pop(name, None)

"""Jobs with ``ttlSecondsAfterFinished`` go by themselves, that long after they finished."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controller import Controller, NamespacedName, controller

JOBS: Final = "jobs.batch"


@controller("ttl-after-finished-controller")
class TtlAfterFinished(Controller):
    """Wakes at the instant a job's time is over, and deletes it with its pods."""

    def watch(self) -> None:
        self.follow(JOBS, self._see)

    def _see(self, write: Revision) -> None:
        if write.change != "DELETED" and expires_s(write.object) is not None:
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        job = self.client.get(JOBS, key.namespace, key.name)
        due_s = expires_s(job) if job is not None else None
        if job is None or due_s is None:
            return
        if due_s > self.api.now_s:
            self.queue.add_after(key, due_s - self.api.now_s)
        else:
            self.client.delete(job, propagation="Foreground")


def expires_s(job: Object) -> float | None:
    """When a finished job's time is over; None if it never is, or the job is being deleted."""
    ttl_s = job["spec"].get("ttlSecondsAfterFinished")
    if ttl_s is None or "deletionTimestamp" in job["metadata"]:
        return None
    for condition in job.get("status", {}).get("conditions") or ():
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return parse(condition["lastTransitionTime"]) + float(ttl_s)
    return None

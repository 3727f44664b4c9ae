"""The control loop of jobs: when a job is synced, and the order of the steps."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller, controller_of, work_off
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.job.backoff import Backoff
from simcloud.kubernetes.controllers.job.conditions import condition, ending, put
from simcloud.kubernetes.controllers.job.parallelism import PodScaler
from simcloud.kubernetes.controllers.job.snapshot import TRACKING, JobSnapshot, is_tracked
from simcloud.kubernetes.controllers.job.tracking import Tracking
from simcloud.kubernetes.controllers.job.verdict import deadline_in_s, find_completion, verdict
from simcloud.kubernetes.controllers.pods import PodControl
from simcloud.kubernetes.workqueue import WorkQueue

JOBS: Final = "jobs.batch"
BATCH_S: Final = 1.0
"""What happens to a job's pods within this time is looked at together."""

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 60.0
"""How long a refused write is waited with."""

OURSELVES: Final = "kubernetes.io/job-controller"


@controller("job-controller")
class Jobs(Controller):
    """Runs jobs to their end."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.queue = WorkQueue(api.kernel, LONGEST_PAUSE_S, FIRST_PAUSE_S)
        self._scaler = PodScaler(self.client, PodControl(self.client, self.recorder))
        self._tracking = Tracking(self.client, self._scaler)
        self._backoffs: dict[NamespacedName, Backoff] = {}
        self._orphans: WorkQueue[NamespacedName] = WorkQueue(api.kernel)

    def start(self) -> None:
        super().start()
        self.kernel.spawn(work_off(self.api, self._orphans, self._free), f"{self.name} orphans")

    def watch(self) -> None:
        self._children = Children(self.client, "pods")
        self.follow(JOBS, self._see_job)
        self.follow("pods", self._see_pod)
        self.follow("pods", self._scaler.pace.see)

    def _see_job(self, write: Revision) -> None:
        key = NamespacedName(write.key.namespace, write.key.name)
        before = write.before
        if write.change == "DELETED":
            for pod in self._children.of(write.object):
                self._note_orphan(pod)
        elif (
            before is not None and before["metadata"]["generation"] == write.object["metadata"]["generation"]
        ):
            self.queue.add_after(key, BATCH_S)
            return
        self.queue.add(key)

    def _see_pod(self, write: Revision) -> None:
        owners = [controller_of(obj) for obj in (write.object, write.before) if obj is not None]
        for owner in owners:
            if owner is not None and owner["kind"] == "Job":
                self.queue.add_after(NamespacedName(write.key.namespace, owner["name"]), BATCH_S)
        if write.change != "DELETED" and is_tracked(write.object) and self._job_of(write.object) is None:
            self._note_orphan(write.object)

    def _note_orphan(self, pod: Object) -> None:
        self._orphans.add(NamespacedName(pod["metadata"]["namespace"], pod["metadata"]["name"]))

    def _job_of(self, pod: Object) -> Object | None:
        owner = controller_of(pod)
        if owner is None or owner["kind"] != "Job":
            return None
        job = self.client.get(JOBS, pod["metadata"]["namespace"], owner["name"])
        return job if job is not None and job["metadata"]["uid"] == owner["uid"] else None

    def _free(self, key: NamespacedName) -> None:
        """A pod whose job is gone need not be counted."""
        pod = self.client.get("pods", *key)
        if pod is not None and self._job_of(pod) is None:
            self._scaler.untrack(pod)

    def sync(self, key: NamespacedName) -> None:
        job = self.client.get(JOBS, *key)
        if job is None or ending(job):
            self._backoffs.pop(key, None)
            return
        if job["spec"].get("managedBy") not in (None, OURSELVES):
            return
        snapshot = JobSnapshot(job, self._pods(job), self._backoffs.get(key, Backoff()))
        if "startTime" not in snapshot.status and not snapshot.suspended:
            snapshot.status["startTime"] = self.api.timestamp()
        finish, refusal = self._act(key, snapshot)
        ended = self._tracking.note(snapshot, finish)
        self._backoffs[key] = snapshot.backoff
        final = self._tracking.settle(snapshot, ended, finish)
        if final is not None:
            self._announce(snapshot, final)
        if refusal is not None:
            raise refusal

    def _pods(self, job: Object) -> list[Object]:
        """The job's pods; one that it takes in is tracked from then on."""
        known = {pod["metadata"]["uid"] for pod in self._children.of(job)}
        claimed = self._children.claim(job, from_label_selector(job["spec"]["selector"]))
        for pod in claimed:
            if pod["metadata"]["uid"] not in known and not is_tracked(pod):
                self.client.patch(pod, {"metadata": {"finalizers": [TRACKING]}})
        return [pod for pod in map(self.client.refresh, claimed) if pod is not None]

    def _act(self, key: NamespacedName, snapshot: JobSnapshot) -> tuple[Object | None, ApiError | None]:
        """End the pods of a job that is over, or give it the pods it wants.

        Returns the condition under which the job is over, and what was refused: the status is written
        in any case.
        """
        now = self.api.timestamp()
        finish = verdict(snapshot, self.api.now_s, now)
        if finish is not None:
            try:
                self._scaler.end(snapshot)
            except ApiError as refusal:
                return None, refusal
            return finish, None
        left_s = deadline_in_s(snapshot, self.api.now_s)
        if left_s is not None:
            self.queue.add_after(key, left_s)
        refused = None
        if not snapshot.leaving:
            try:
                wait_s = self._scaler.adjust(snapshot)
                if wait_s:
                    self.queue.add_after(key, wait_s)
            except ApiError as refusal:
                refused = refusal
        finish = find_completion(snapshot, now)
        if finish is None and not snapshot.leaving:
            self._suspend_or_resume(snapshot, now)
        return finish, refused

    def _suspend_or_resume(self, snapshot: JobSnapshot, now: str) -> None:
        if snapshot.suspended:
            if put(snapshot.job, condition("Suspended", "JobSuspended", "Job suspended", now)):
                snapshot.status.pop("startTime", None)
                self.recorder.event(snapshot.job, "Normal", "Suspended", "Job suspended")
        elif put(snapshot.job, condition("Suspended", "JobResumed", "Job resumed", now, status="False")):
            snapshot.status["startTime"] = now
            self.recorder.event(snapshot.job, "Normal", "Resumed", "Job resumed")

    def _announce(self, snapshot: JobSnapshot, final: Object) -> None:
        if final["type"] == "Failed":
            self.recorder.event(snapshot.job, "Warning", final["reason"], final["message"])
            return
        if snapshot.completions is not None and snapshot.status.get("succeeded", 0) > snapshot.completions:
            message = "Too many succeeded pods running after completion count reached"
            self.recorder.event(snapshot.job, "Warning", "TooManySucceededPods", message)
        self.recorder.event(snapshot.job, "Normal", "Completed", "Job completed")

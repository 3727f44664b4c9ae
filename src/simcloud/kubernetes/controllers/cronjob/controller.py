"""The control loop of CronJobs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from simcloud.kubernetes.api.errors import AlreadyExists, ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse, rfc3339
from simcloud.kubernetes.controller import (
    Controller,
    NamespacedName,
    controller,
    controller_of,
    owner_reference,
)
from simcloud.kubernetes.controllers.children import Children
from simcloud.kubernetes.controllers.cronjob.schedule import (
    Missed,
    Schedule,
    due,
    parse_schedule,
    wake_in_s,
    zone_named,
)
from simcloud.kubernetes.controllers.job.conditions import ending
from simcloud.kubernetes.controllers.pods import namespace_is_leaving

CRON_JOBS: Final = "cronjobs.batch"
JOBS: Final = "jobs.batch"
SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
DOCUMENTATION: Final = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"


class NotReplaced(ApiError):
    """A job that should make room for the next one is still there."""


@controller("cronjob-controller")
class CronJobs(Controller):
    """Makes the jobs of CronJobs at their times, and clears away old ones."""

    def watch(self) -> None:
        self._children = Children(self.client, JOBS)
        self.follow(CRON_JOBS, self._see)
        self.follow(JOBS, self.enqueue_owner("CronJob"))

    def _see(self, write: Revision) -> None:
        before, after = write.before, write.object
        if write.change != "MODIFIED" or before is None or _timing(before) == _timing(after):
            self.enqueue(write)
            return
        try:
            schedule = _schedule(after)
        except ValueError:
            self.enqueue(write)
            return
        wait_s = wake_in_s(after, schedule, self.api.now_s)
        if wait_s is not None:
            self.queue.add_after(NamespacedName(write.key.namespace, write.key.name), wait_s)

    def sync(self, key: NamespacedName) -> None:
        stored = self.client.get(CRON_JOBS, *key)
        if stored is None:
            return
        cron_job: Object = copy(stored)
        cron_job.setdefault("status", {})
        jobs = self._children.of(cron_job)
        self._clear_history(cron_job, jobs)
        refusal: ApiError | None = None
        wait_s: float | None = None
        try:
            wait_s = self._serve(cron_job, jobs)
        except ApiError as error:
            refusal = error
        if cron_job["status"] != (stored.get("status") or {}):
            self.client.update_status(cron_job)
        if wait_s is not None:
            self.queue.add_after(key, wait_s)
        elif refusal is not None:
            raise refusal

    def _serve(self, cron_job: Object, jobs: list[Object]) -> float | None:
        """Note what became of the jobs and make the one that is due. Returns when to come again."""
        self._follow_jobs(cron_job, jobs)
        self._forget_missing(cron_job, jobs)
        if "deletionTimestamp" in cron_job["metadata"] or cron_job["spec"].get("suspend"):
            return None
        schedule = self._readable_schedule(cron_job)
        if schedule is None:
            return None
        now_s = self.api.now_s
        try:
            _, time_s, missed = due(cron_job, schedule, now_s, within_deadline=True)
        except ValueError as problem:
            message = f"invalid schedule: {cron_job['spec']['schedule']} : {problem}"
            self.recorder.event(cron_job, "Warning", "InvalidSchedule", message)
            return None
        if time_s is not None and missed is Missed.MANY:
            message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self.recorder.event(cron_job, "Warning", "TooManyMissedTimes", message)
        if time_s is not None and self._may_start(cron_job, time_s):
            self._start(cron_job, time_s)
        return wake_in_s(cron_job, schedule, now_s)

    def _readable_schedule(self, cron_job: Object) -> Schedule | None:
        spec = cron_job["spec"]
        zone = spec.get("timeZone")
        try:
            zone_named(zone or "")
        except ValueError as problem:
            self.recorder.event(
                cron_job, "Warning", "UnknownTimeZone", f'invalid timeZone: "{zone}": {problem}'
            )
            return None
        if "TZ" in spec["schedule"]:
            message = (
                f'CRON_TZ or TZ used in schedule "{spec["schedule"]}" is not officially supported, '
                f"see {DOCUMENTATION} for more details"
            )
            self.recorder.event(cron_job, "Warning", "UnsupportedSchedule", message)
        try:
            return _schedule(cron_job)
        except ValueError as problem:
            message = f'unparseable schedule: "{spec["schedule"]}" : {problem}'
            self.recorder.event(cron_job, "Warning", "UnparseableSchedule", message)
            return None

    def _follow_jobs(self, cron_job: Object, jobs: list[Object]) -> None:
        """Jobs that ended leave the active list; the last success is noted when it is seen again."""
        status = cron_job["status"]
        for job in jobs:
            name, uid = job["metadata"]["name"], job["metadata"]["uid"]
            active = any(reference.get("uid") == uid for reference in status.get("active") or ())
            end = ending(job)
            if not active and not end:
                message = f"Saw a job that the controller did not create or forgot: {name}"
                self.recorder.event(cron_job, "Warning", "UnexpectedJob", message)
            elif active and end:
                _leave_active(status, uid)
                message = f"Saw completed job: {name}, condition: {end}"
                self.recorder.event(cron_job, "Normal", "SawCompletedJob", message)
            elif end == "Complete":
                completed = job["status"].get("completionTime")
                known = status.get("lastSuccessfulTime")
                if completed is not None and (known is None or parse(completed) > parse(known)):
                    status["lastSuccessfulTime"] = completed

    def _forget_missing(self, cron_job: Object, jobs: list[Object]) -> None:
        present = {job["metadata"]["uid"] for job in jobs}
        for reference in list(cron_job["status"].get("active") or ()):
            if reference.get("uid") in present:
                continue
            name = reference["name"]
            if self.client.get(JOBS, cron_job["metadata"]["namespace"], name) is None:
                self.recorder.event(cron_job, "Normal", "MissingJob", f"Active job went missing: {name}")
                _leave_active(cron_job["status"], reference.get("uid", ""))

    def _may_start(self, cron_job: Object, time_s: float) -> bool:
        """Whether the job of a time is still wanted. Replaced ones make room here."""
        spec, status = cron_job["spec"], cron_job["status"]
        deadline_s = spec.get("startingDeadlineSeconds")
        if deadline_s is not None and time_s + deadline_s < self.api.now_s:
            moment = datetime.fromtimestamp(time_s, UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
            message = f"Missed scheduled time to start a job: {moment}"
            self.recorder.event(cron_job, "Warning", "MissSchedule", message)
            return False
        active = status.get("active") or []
        served = status.get("lastScheduleTime")
        name = job_name(cron_job, time_s)
        if any(reference["name"] == name for reference in active) or (served and parse(served) == time_s):
            return False
        if spec["concurrencyPolicy"] == "Forbid" and active:
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self.recorder.event(cron_job, "Normal", "JobAlreadyActive", message)
            return False
        if spec["concurrencyPolicy"] == "Replace":
            self._replace(cron_job)
        return True

    def _replace(self, cron_job: Object) -> None:
        for reference in list(cron_job["status"].get("active") or ()):
            job = self.client.get(JOBS, cron_job["metadata"]["namespace"], reference["name"])
            if job is not None and not self._delete(cron_job, job):
                raise NotReplaced(
                    f"could not replace job {cron_job['metadata']['namespace']}/{reference['name']}"
                )

    def _start(self, cron_job: Object, time_s: float) -> None:
        status = cron_job["status"]
        wanted = job_from_template(cron_job, time_s)
        try:
            job = self.client.create(wanted)
        except AlreadyExists:
            present = self.client.get(JOBS, cron_job["metadata"]["namespace"], wanted["metadata"]["name"])
            owner = controller_of(present) if present is not None else None
            if present is None or owner is None or owner["uid"] != cron_job["metadata"]["uid"]:
                return
            job = present
        except ApiError as refusal:
            if not namespace_is_leaving(refusal):
                message = f"Error creating job: {refusal.message}"
                self.recorder.event(cron_job, "Warning", "FailedCreate", message)
            raise
        else:
            message = f"Created job {job['metadata']['name']}"
            self.recorder.event(cron_job, "Normal", "SuccessfulCreate", message)
        if all(reference.get("uid") != job["metadata"]["uid"] for reference in status.get("active") or ()):
            status.setdefault("active", []).append(_reference(job))
        status["lastScheduleTime"] = rfc3339(time_s)

    def _clear_history(self, cron_job: Object, jobs: list[Object]) -> None:
        spec = cron_job["spec"]
        for end, limit in (
            ("Complete", spec.get("successfulJobsHistoryLimit")),
            ("Failed", spec.get("failedJobsHistoryLimit")),
        ):
            ended = [job for job in jobs if ending(job) == end]
            if limit is None or len(ended) <= limit:
                continue
            ended.sort(key=lambda job: (job["status"].get("startTime", "~"), job["metadata"]["name"]))
            for job in ended[: len(ended) - limit]:
                self._delete(cron_job, job)

    def _delete(self, cron_job: Object, job: Object) -> bool:
        name = job["metadata"]["name"]
        try:
            self.client.delete(job, propagation="Background")
        except ApiError as refusal:
            self.recorder.event(cron_job, "Warning", "FailedDelete", f"Deleted job: {refusal.message}")
            return False
        _leave_active(cron_job["status"], job["metadata"]["uid"])
        self.recorder.event(cron_job, "Normal", "SuccessfulDelete", f"Deleted job {name}")
        return True


def job_name(cron_job: Object, time_s: float) -> str:
    """A job's name tells its time, so that no time is served twice."""
    return f"{cron_job['metadata']['name']}-{int(time_s) // 60}"


def job_from_template(cron_job: Object, time_s: float) -> Object:
    """The job of a time."""
    template = cron_job["spec"]["jobTemplate"]
    metadata = template.get("metadata") or {}
    zone = zone_named(cron_job["spec"].get("timeZone") or "")
    moment = datetime.fromtimestamp(time_s, zone).isoformat()
    scheduled_at = moment.removesuffix("+00:00") + "Z" if moment.endswith("+00:00") else moment
    made: Object = {
        "name": job_name(cron_job, time_s),
        "namespace": cron_job["metadata"]["namespace"],
        "annotations": {**(metadata.get("annotations") or {}), SCHEDULED: scheduled_at},
        "ownerReferences": [owner_reference(cron_job)],
    }
    if metadata.get("labels"):
        made["labels"] = copy(metadata["labels"])
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": made, "spec": copy(template["spec"])}


def _schedule(cron_job: Object) -> Schedule:
    return parse_schedule(cron_job["spec"]["schedule"], cron_job["spec"].get("timeZone") or "")


def _timing(cron_job: Object) -> tuple[str, str | None]:
    return cron_job["spec"]["schedule"], cron_job["spec"].get("timeZone")


def _reference(job: Object) -> Object:
    metadata = job["metadata"]
    named = {key: metadata[key] for key in ("name", "namespace", "resourceVersion", "uid")}
    return {"apiVersion": job["apiVersion"], "kind": job["kind"], **named}


def _leave_active(status: Object, uid: str) -> None:
    left = [reference for reference in status.get("active") or () if reference.get("uid") != uid]
    if left:
        status["active"] = left
    else:
        status.pop("active", None)

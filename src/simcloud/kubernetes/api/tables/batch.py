"""Jobs and CronJobs."""

from __future__ import annotations

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import (
    Cells,
    age,
    condition,
    containers,
    count,
    items,
    name,
    part,
    seconds,
    selector,
    since,
    text,
    truth,
)
from simcloud.kubernetes.api.tables.registry import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    Column,
    boolean,
    integer,
    table,
    wide,
)

_SELECTOR = wide("Selector", of="batch.v1.JobSpec.selector")


@table(
    "batch",
    "Job",
    NAME,
    Column("Status", "Status of the job."),
    Column("Completions", of="batch.v1.JobStatus.succeeded"),
    Column("Duration", "Time required to complete the job."),
    AGE,
    CONTAINERS,
    IMAGES,
    _SELECTOR,
)
def job(obj: Object, now_s: float) -> Cells:
    """A Job's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    return [
        name(obj),
        _status(obj),
        _completions(spec, status),
        _duration(status, now_s),
        age(obj, now_s),
        *containers(part(spec, "template")),
        selector(spec.get("selector")),
    ]


def _status(obj: Object) -> str:
    conditions = items(part(obj, "status"), "conditions")
    held = [
        kind
        for kind in ("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet")
        if (found := condition(conditions, kind)) and found.get("status") == "True"
    ]
    if held and held[0] in ("Complete", "Failed"):
        return held[0]
    if part(obj, "metadata").get("deletionTimestamp"):
        return "Terminating"
    return held[0] if held else "Running"


def _completions(spec: Object, status: Object) -> str:
    succeeded = count(status, "succeeded")
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = count(spec, "parallelism")
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(status: Object, now_s: float) -> str:
    started_s = seconds(status.get("startTime"))
    if started_s is None:
        return ""
    completed_s = seconds(status.get("completionTime"))
    return times.human_duration((now_s if completed_s is None else completed_s) - started_s)


@table(
    "batch",
    "CronJob",
    NAME,
    Column("Schedule", of="batch.v1.CronJobSpec.schedule"),
    Column("Timezone", of="batch.v1.CronJobSpec.timeZone"),
    boolean("Suspend", of="batch.v1.CronJobSpec.suspend"),
    integer("Active", of="batch.v1.CronJobStatus.active"),
    Column("Last Schedule", of="batch.v1.CronJobStatus.lastScheduleTime"),
    AGE,
    CONTAINERS,
    IMAGES,
    _SELECTOR,
)
def cron_job(obj: Object, now_s: float) -> Cells:
    """A CronJob's row."""
    spec, status = part(obj, "spec"), part(obj, "status")
    last, zone = status.get("lastScheduleTime"), spec.get("timeZone")
    jobs = part(spec, "jobTemplate", "spec")
    return [
        name(obj),
        text(spec, "schedule"),
        "<none>" if zone is None else zone,
        truth(spec.get("suspend")),
        len(items(status, "active")),
        "<none>" if last is None else since(last, now_s),
        age(obj, now_s),
        *containers(part(jobs, "template")),
        selector(jobs.get("selector")),
    ]

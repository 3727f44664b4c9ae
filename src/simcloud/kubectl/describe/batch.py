"""Jobs and CronJobs."""

from __future__ import annotations

from typing import Any, Final

from simcloud.golang import sprint
from simcloud.kubectl.describe.events import write_events
from simcloud.kubectl.describe.page import NONE, UNSET, Page, long_time
from simcloud.kubectl.describe.parts import write_controller, write_metadata, write_name
from simcloud.kubectl.describe.registry import Reader, describes
from simcloud.kubectl.describe.templates import write_template
from simcloud.kubernetes.api import Object, selectors, times
from simcloud.kubernetes.api.tables import cells

INDEXES_SHOWN: Final = 50
"""Characters of a list of indexes, after which it is cut at the next comma."""


@describes("batch", "Job")
async def describe_job(reader: Reader, obj: Object, show_events: bool) -> str:
    """A Job."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    write_name(page, obj)
    page.field("Selector", selectors.from_label_selector(spec.get("selector")))
    write_metadata(page, obj)
    write_controller(page, obj)
    _write_set(page, "Parallelism", spec.get("parallelism"))
    page.field("Completions", _or_unset(spec.get("completions")))
    _write_set(page, "Completion Mode", spec.get("completionMode"))
    _write_set(page, "Suspend", spec.get("suspend"))
    _write_set(page, "Backoff Limit", spec.get("backoffLimit"))
    _write_set(page, "TTL Seconds After Finished", spec.get("ttlSecondsAfterFinished"))
    _write_times(page, status)
    if spec.get("activeDeadlineSeconds") is not None:
        page.field("Active Deadline Seconds", f"{spec['activeDeadlineSeconds']}s")
    ready = "" if status.get("ready") is None else f" ({status['ready']} Ready)"
    page.field(
        "Pods Statuses",
        f"{cells.count(status, 'active')} Active{ready} / {cells.count(status, 'succeeded')} Succeeded / "
        f"{cells.count(status, 'failed')} Failed",
    )
    if spec.get("completionMode") == "Indexed":
        page.field("Completed Indexes", _indexes(cells.text(status, "completedIndexes")))
    write_template(page, cells.part(spec, "template"))
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_set(page: Page, title: str, value: Any) -> None:
    if value is not None:
        page.field(title, sprint(value))


def _or_unset(value: Any) -> str:
    return UNSET if value is None else str(value)


def _write_times(page: Page, status: Object) -> None:
    started, completed = status.get("startTime"), status.get("completionTime")
    if started is not None:
        page.field("Start Time", long_time(started))
    if completed is not None:
        page.field("Completed At", long_time(completed))
    if started is not None and completed is not None:
        page.field("Duration", times.human_duration(times.parse(completed) - times.parse(started)))


def _indexes(indexes: str) -> str:
    cut = indexes.find(",", INDEXES_SHOWN)
    return f"{indexes[: cut + 1]}..." if cut >= 0 else indexes or NONE


@describes("batch", "CronJob")
async def describe_cron_job(reader: Reader, obj: Object, show_events: bool) -> str:
    """A CronJob."""
    page, spec, status = Page(), cells.part(obj, "spec"), cells.part(obj, "status")
    write_name(page, obj)
    write_metadata(page, obj)
    page.field("Schedule", cells.text(spec, "schedule"))
    page.field("Concurrency Policy", cells.text(spec, "concurrencyPolicy"))
    page.field("Suspend", cells.truth(spec.get("suspend")))
    page.field("Time Zone", _or_unset(spec.get("timeZone")))
    page.field("Successful Job History Limit", _or_unset(spec.get("successfulJobsHistoryLimit")))
    page.field("Failed Job History Limit", _or_unset(spec.get("failedJobsHistoryLimit")))
    deadline = spec.get("startingDeadlineSeconds")
    page.field("Starting Deadline Seconds", UNSET if deadline is None else f"{deadline}s")
    _write_job_template(page, cells.part(spec, "jobTemplate", "spec"))
    scheduled = status.get("lastScheduleTime")
    page.field("Last Schedule Time", UNSET if scheduled is None else long_time(scheduled))
    page.field(
        "Active Jobs", ", ".join(cells.text(job, "name") for job in cells.items(status, "active")) or NONE
    )
    await write_events(page, reader, obj, show_events)
    return page.text()


def _write_job_template(page: Page, spec: Object) -> None:
    wanted = spec.get("selector")
    page.field("Selector", UNSET if wanted is None else selectors.from_label_selector(wanted))
    page.field("Parallelism", _or_unset(spec.get("parallelism")))
    page.field("Completions", _or_unset(spec.get("completions")))
    if spec.get("activeDeadlineSeconds") is not None:
        page.field("Active Deadline Seconds", f"{spec['activeDeadlineSeconds']}s")
    write_template(page, cells.part(spec, "template"))

"""Which time of a schedule is to be served now, and when to look again."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, NamedTuple

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse
from simcloud.kubernetes.controllers.cronjob.schedule import Schedule

MARGIN_S: Final = 0.1
"""The loop wakes this long after a time, so that the time has surely come."""

MANY: Final = 100
"""More missed times than this are worth a warning."""


class Missed(Enum):
    """How many times passed unserved before the one that is due."""

    NONE = auto()
    FEW = auto()
    MANY = auto()


class Due(NamedTuple):
    """Since when times are looked for, and the last one that has come, if one has."""

    earliest_s: float
    time_s: float | None
    missed: Missed


def due(cron_job: Object, schedule: Schedule, now_s: float, within_deadline: bool) -> Due:
    """The last time since the one served last; ValueError: the schedule has no times."""
    earliest_s = parse(
        cron_job.get("status", {}).get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
    )
    deadline_s = cron_job["spec"].get("startingDeadlineSeconds")
    if within_deadline and deadline_s is not None:
        earliest_s = max(earliest_s, now_s - float(deadline_s))
    first = schedule.after(earliest_s)
    second = schedule.after(first) if first is not None else None
    if first is None or second is None:
        raise ValueError("time difference between two schedules is less than 1 second")
    if now_s < first:
        return Due(earliest_s, None, Missed.NONE)
    if now_s < second:
        return Due(earliest_s, first, Missed.NONE)
    period_s = int(second - first)
    passed = int(now_s - first) // period_s + 1
    # One period back, because the distance of two times need not be that of all.
    time_s, latest = schedule.after(first + (passed - 2) * period_s), None
    while time_s is not None and time_s <= now_s:
        latest, time_s = time_s, schedule.after(time_s)
    return Due(earliest_s, latest, Missed.MANY if passed > MANY else Missed.FEW)


def wake_in_s(cron_job: Object, schedule: Schedule, now_s: float) -> float | None:
    """In how many seconds the next time comes; None if there is no more."""
    try:
        earliest_s, time_s, missed = due(cron_job, schedule, now_s, within_deadline=False)
    except ValueError:
        base_s = now_s
    else:
        base_s = time_s if time_s is not None else earliest_s if missed is Missed.NONE else now_s
    following = schedule.after(base_s)
    return following + MARGIN_S - now_s if following is not None else None

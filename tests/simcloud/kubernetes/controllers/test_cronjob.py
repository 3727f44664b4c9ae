"""CronJobs: the times of schedules, and jobs at these times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import parse, rfc3339
from simcloud.kubernetes.api.validation.schedule import zone_errors
from simcloud.kubernetes.controller import owner_reference
from simcloud.kubernetes.controllers.cronjob.schedule import Missed, due, parse_schedule, zone_named
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World

__all__ = ["frozen_objects"]

LOOPS = ["cronjob-controller", "job-controller", "garbage-collector-controller"]


def times(schedule: str, start: str, count: int, zone: str = "") -> list[str]:
    found, time_s = [], parse(start)
    for _ in range(count):
        following = parse_schedule(schedule, zone).after(time_s)
        assert following is not None
        time_s = following
        found.append(rfc3339(time_s))
    return found


@pytest.mark.parametrize(
    ("schedule", "start", "wanted"),
    [
        ("*/15 * * * *", "2026-01-05T09:00:00Z", ["2026-01-05T09:15:00Z", "2026-01-05T09:30:00Z"]),
        ("5/20 9 * * *", "2026-01-05T09:06:00Z", ["2026-01-05T09:25:00Z", "2026-01-05T09:45:00Z"]),
        ("0 0 31 * *", "2026-02-01T00:00:00Z", ["2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"]),
        (
            "0 12 * jan-mar/2 sun,TUE",
            "2026-01-05T09:00:00Z",
            ["2026-01-06T12:00:00Z", "2026-01-11T12:00:00Z"],
        ),
        ("0 0 29 2 *", "2026-01-05T09:00:00Z", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]),
        # Both fields for days are told: either is enough.
        ("0 0 13 * fri", "2026-01-05T09:00:00Z", ["2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"]),
        # One of them is a star: both must hold. A star with a step is none.
        ("0 0 * * fri", "2026-01-05T09:00:00Z", ["2026-01-09T00:00:00Z", "2026-01-16T00:00:00Z"]),
        ("0 0 */10 * fri", "2026-01-05T09:00:00Z", ["2026-01-09T00:00:00Z", "2026-01-11T00:00:00Z"]),
        ("@hourly", "2026-01-05T09:00:00Z", ["2026-01-05T10:00:00Z", "2026-01-05T11:00:00Z"]),
        ("@weekly", "2026-01-05T09:00:00Z", ["2026-01-11T00:00:00Z", "2026-01-18T00:00:00Z"]),
        ("@every 1h30m", "2026-01-05T09:00:10Z", ["2026-01-05T10:30:10Z", "2026-01-05T12:00:10Z"]),
    ],
)
def test_the_times_of_a_schedule(schedule: str, start: str, wanted: list[str]) -> None:
    assert times(schedule, start, len(wanted)) == wanted


def test_a_schedule_that_never_comes_has_no_time() -> None:
    assert parse_schedule("0 0 31 2 *").after(parse("2026-01-05T09:00:00Z")) is None
    with pytest.raises(ValueError, match="expected exactly 5 fields"):
        parse_schedule("* * *")


def test_every_zone_that_the_api_accepts_is_known() -> None:
    for name in ("UTC", "Etc/UTC", "America/Argentina/Buenos_Aires", "GMT", "Asia/Kathmandu"):
        assert zone_errors(name) == []
        assert datetime.fromtimestamp(0, zone_named(name)).utcoffset() is not None
    with pytest.raises(ValueError, match="unknown time zone Mars/Olympus"):
        zone_named("Mars/Olympus")


def test_clocks_that_change() -> None:
    berlin = "Europe/Berlin"
    # 02:30 does not exist on 29 March 2026, and comes twice on 25 October.
    assert times("30 2 * * *", "2026-03-28T00:00:00Z", 2, berlin) == [
        "2026-03-28T01:30:00Z",
        "2026-03-30T00:30:00Z",
    ]
    assert times("30 2 * * *", "2026-10-24T12:00:00Z", 3, berlin) == [
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-26T01:30:00Z",
    ]


FIELDS = st.tuples(
    st.sampled_from(["*", "*/7", "0", "5-50/9", "1,2,58"]),
    st.sampled_from(["*", "3", "*/5", "22-23"]),
    st.sampled_from(["*", "1", "28-31", "*/9"]),
    st.sampled_from(["*", "2", "jun-aug"]),
    st.sampled_from(["*", "0", "mon-fri"]),
)


@settings(max_examples=60, deadline=None)
@given(FIELDS, st.integers(0, 366 * 24 * 60))
def test_no_time_lies_between_a_time_and_the_next(fields: tuple[str, ...], minutes: int) -> None:
    schedule = parse_schedule(" ".join(fields))
    start_s = parse("2026-01-01T00:00:00Z") + minutes * 60
    following = schedule.after(start_s)
    assert following is not None
    assert following > start_s
    assert following % 60 == 0
    # Asking from anywhere in between gives the same time.
    for part in (0.1, 0.5, 0.999):
        between = start_s + (following - start_s) * part
        assert schedule.after(min(between, following - 1)) == following
    moment = datetime.fromtimestamp(following, UTC)
    assert fields[0] != "0" or moment.minute == 0
    assert fields[1] != "3" or moment.hour == 3
    assert fields[3] != "2" or moment.month == 2


def cron_job(name: str, **spec: Any) -> Object:
    containers = [{"name": "tick", "image": "busybox:1.36"}]
    template = {"spec": {"restartPolicy": "OnFailure", "containers": containers}}
    told = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": told}


def test_only_the_last_of_missed_times_is_due() -> None:
    made = {**cron_job("c"), "metadata": {"name": "c", "creationTimestamp": "2026-01-05T09:00:00Z"}}
    schedule = parse_schedule("*/10 * * * *")
    born = parse("2026-01-05T09:00:00Z")
    assert due(made, schedule, born + 500, True).time_s is None
    assert due(made, schedule, born + 600, True)[1:] == (born + 600, Missed.NONE)
    assert due(made, schedule, born + 3700, True)[1:] == (born + 3600, Missed.FEW)
    assert due(made, schedule, born + 600 * 101, True)[1:] == (born + 600 * 101, Missed.MANY)
    made["spec"]["startingDeadlineSeconds"] = 30
    assert due(made, schedule, born + 3700, True).time_s is None


def test_the_loop_wakes_a_tenth_of_a_second_after_each_time() -> None:
    world = World(LOOPS)
    world.create(cron_job("tick"))
    world.kernel.run_until(60.09)
    assert world.named("jobs.batch/*") == []
    world.kernel.run_until(60.2)
    assert [one["metadata"]["name"] for one in world.named("jobs.batch/*")] == ["tick-29460061"]


def test_finished_jobs_are_kept_up_to_their_limits() -> None:
    world = World(LOOPS)
    limits = {"successfulJobsHistoryLimit": 2, "failedJobsHistoryLimit": 0}
    world.create(cron_job("tick", **limits))
    for minute in range(6):
        world.kernel.run_until(60.0 * (minute + 1) + 5)
        for pod in world.named("pods/*"):
            if pod["status"]["phase"] == "Running":
                world.stand_in.tell(pod, "Succeeded", False)
        world.kernel.run_for(5.0)
    kept = [one["metadata"]["name"] for one in world.named("jobs.batch/*")]
    assert kept == ["tick-29460065", "tick-29460066"]
    assert len(world.named("pods/*")) == 2


def test_a_job_started_by_hand_is_noticed_and_goes_with_the_cron_job() -> None:
    world = World(LOOPS)
    world.create(cron_job("tick", schedule="0 0 1 1 *"))
    world.kernel.run_for(1.0)
    (tick,) = world.named("cronjobs.batch/tick")
    spec = cron_job("x")["spec"]["jobTemplate"]["spec"]
    metadata = {"name": "manual", "ownerReferences": [owner_reference(tick)]}
    world.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    world.kernel.run_for(1.0)
    told = "Saw a job that the controller did not create or forgot: manual"
    assert any(told in line for line in world.events())
    world.delete("cronjobs.batch/tick")
    world.kernel.run_for(5.0)
    assert world.named("jobs.batch/*") == []
    assert world.named("pods/*") == []


def test_a_changed_schedule_is_served_from_then_on() -> None:
    world = World(LOOPS)
    world.create(cron_job("tick", schedule="0 0 1 1 *"))
    world.kernel.run_for(30.0)
    world.patch({"cronjobs.batch/tick": {"spec": {"schedule": "*/2 * * * *"}}}, "")
    world.kernel.run_until(125.0)
    assert [one["metadata"]["name"] for one in world.named("jobs.batch/*")] == ["tick-29460062"]

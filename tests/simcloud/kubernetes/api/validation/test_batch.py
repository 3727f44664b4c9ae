"""Jobs and CronJobs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.validation.schedule import schedule_error, zone_errors
from tests.simcloud.kubernetes.api.validation.samples import (
    GONE,
    changed,
    on_create,
    on_update,
    sound,
    warnings,
)

JOB = sound("Job")
CRON = sound("CronJob")
DONE = [{"type": "SuccessCriteriaMet", "status": "True"}, {"type": "Complete", "status": "True"}]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("parallelism", -1, ["parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        ("template/spec/restartPolicy", "Always", [
            'template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
        ]),
        ("template/spec/restartPolicy", "x", [
            'template.spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"',
            'template.spec.restartPolicy: Unsupported value: "x": supported values: "OnFailure", "Never"',
        ]),
        ("completionMode", "x", [
            'completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"'
        ]),
        ("backoffLimitPerIndex", 1, ["backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"]),
        ("podFailurePolicy", {"rules": [{"action": "x"}]}, [
            'podFailurePolicy.rules[0].action: Unsupported value: "x": supported values: "Count", "FailIndex", '
            '"FailJob", "Ignore"',
            "podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required",
            'podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
        ]),
        ("template/metadata/labels/job-name", "x", [
            'template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u1",'
            '"batch.kubernetes.io/job-name":"web","controller-uid":"u1","job-name":"x"}: must be \'web\''
        ]),
    ],
)  # fmt: skip
def test_jobs(path: str, value: Any, told: list[str]) -> None:
    assert on_create(changed(JOB, f"spec/{path}", value)) == [f"spec.{one}" for one in told]


def test_failure_policies() -> None:
    policy = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [2, 1, 0]}}]}
    job = changed(changed(JOB, "spec/podFailurePolicy", policy), "spec/podReplacementPolicy", "Failed")
    at = "spec.podFailurePolicy.rules[0].onExitCodes.values"
    assert on_create(job) == [
        f"{at}[2]: Invalid value: 0: must not be 0 for the In operator",
        f"{at}: Invalid value: [2,1,0]: must be ordered",
    ]


def test_what_of_a_job_is_fixed() -> None:
    assert on_update(changed(JOB, "spec/parallelism", 3), JOB) == []
    assert on_update(changed(JOB, "spec/completions", 3), JOB) == [
        "spec.completions: Invalid value: 3: field is immutable"
    ]
    told = on_update(changed(JOB, "spec/template/spec/containers/0/image", "other"), JOB)
    assert len(told) == 1
    assert told[0].startswith('spec.template: Invalid value: {"labels":{')
    assert told[0].endswith(": field is immutable")
    waiting = changed(JOB, "spec/suspend", True)
    assert on_update(changed(waiting, "spec/template/spec/nodeSelector", {"a": "b"}), waiting) == []
    less = {"requests": {"cpu": "1"}}
    assert on_update(changed(waiting, "spec/template/spec/containers/0/resources", less), waiting) == []
    running = changed(waiting, "status", {"startTime": "2026-01-01T00:00:00Z", "active": 1})
    assert len(on_update(changed(running, "spec/template/spec/nodeSelector", {"a": "b"}), running)) == 1


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("schedule", "", ["schedule: Required value"]),
        ("schedule", "x", ['schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]']),
        ("schedule", "CRON_TZ=UTC 0 0 * * *", [
            'schedule: Invalid value: "CRON_TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone '
            "field instead"
        ]),
        ("timeZone", "Mars/Base", ['timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base']),
        ("timeZone", "Europe/Berlin", []),
        ("concurrencyPolicy", "x", [
            'concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"'
        ]),
        ("startingDeadlineSeconds", -1, [
            "startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0"
        ]),
        ("jobTemplate/spec/selector", {"matchLabels": {"a": "b"}}, [
            'jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated'
        ]),
        ("jobTemplate/spec/template/spec/containers", GONE, [
            "jobTemplate.spec.template.spec.containers: Required value"
        ]),
    ],
)  # fmt: skip
def test_cron_jobs(path: str, value: Any, told: list[str]) -> None:
    assert on_create(changed(CRON, f"spec/{path}", value)) == [f"spec.{one}" for one in told]


def test_a_cron_jobs_name_leaves_room_for_its_jobs() -> None:
    name = "a" * 53
    assert on_create(changed(CRON, "metadata/name", name)) == [
        f'metadata.name: Invalid value: "{name}": must be no more than 52 characters'
    ]


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ("@hourly", None),
        ("@every 1h30m", None),
        ("@never", "unrecognized descriptor: @never"),
        ("*/15 0-6 1,15 jan-mar mon", None),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
    ],
)
def test_schedules(schedule: str, told: str | None) -> None:
    assert schedule_error(schedule) == told


@given(st.text(alphabet="*/-,0123456789 @TZ=jansumo", max_size=40), st.text(max_size=20))
def test_any_schedule_and_zone_is_answered(schedule: str, zone: str) -> None:
    assert schedule_error(schedule) is None or schedule_error(schedule)
    assert all(isinstance(told, str) for told in zone_errors(zone))


def test_warnings() -> None:
    assert warnings(changed(CRON, "metadata/name", "a.b"))[0].startswith(
        "metadata.name: this is used in Pod names"
    )
    assert warnings(JOB) == warnings(CRON) == []

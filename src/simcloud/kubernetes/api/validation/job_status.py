"""What a Job's status may tell: a Job ends once, and its counters agree with its end.

Rules that a change can newly break are checked only where the change touches what they are about, so
that a status that was already odd can still be updated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import duplicate, invalid, required
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.validation.common import (
    Errors,
    items,
    mapping,
    non_negative_fields,
    number,
    text,
)
from simcloud.kubernetes.api.validation.gotypes import as_go
from simcloud.kubernetes.api.validation.job_policies import count_indexes, index_interval, without_value

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


def changed_job_status(new: Object, old: Object) -> Errors:
    """What a change of a Job's status breaks."""
    status, former, spec = mapping(new, "status"), mapping(old, "status"), mapping(new, "spec")
    errors = non_negative_fields("status", status, *_COUNTS)
    errors += _uncounted(mapping(status, "uncountedTerminatedPods"))
    errors += _conditions(status, former, spec)
    errors += _finished(status, former)
    errors += _indexes(status, former, spec)
    return errors + _no_way_back(status, former, spec)


def _is(status: Mapping[str, Any], kind: str) -> bool:
    return any(
        text(one, "type") == kind and text(one, "status") == "True" for one in items(status, "conditions")
    )


def _uncounted(given: Mapping[str, Any]) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for key in ("succeeded", "failed"):
        for index, uid in enumerate(items(given, key)):
            at = f"status.uncountedTerminatedPods.{key}[{index}]"
            if not uid:
                errors.append(invalid(at, uid, "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(at, uid))
            seen.add(uid)
    return errors


def _conditions(status: Mapping[str, Any], former: Mapping[str, Any], spec: Mapping[str, Any]) -> Errors:
    path = "status.conditions"
    complete, failed = _is(status, "Complete"), _is(status, "Failed")
    target, criteria = _is(status, "FailureTarget"), _is(status, "SuccessCriteriaMet")
    newly_complete = complete and not _is(former, "Complete")
    newly_failed = failed and not _is(former, "Failed")
    told = [
        (newly_complete and failed, "cannot set Complete=True and Failed=true conditions"),
        (newly_complete and target, "cannot set Complete=True and FailureTarget=true conditions"),
        (
            newly_failed and not target,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        (
            newly_complete and not criteria,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        (criteria and failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
        (criteria and target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
        (
            spec.get("successPolicy") is not None and complete and not criteria,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ]
    return [without_value(path, why) for broken, why in told if broken]


def _finished(status: Mapping[str, Any], former: Mapping[str, Any]) -> Errors:
    """What must hold when a Job ends."""
    complete = _is(status, "Complete")
    ended = complete or _is(status, "Failed")
    newly = ended and not (_is(former, "Complete") or _is(former, "Failed"))
    started, completed = status.get("startTime"), status.get("completionTime")
    errors: Errors = []
    if completed is not None and completed != former.get("completionTime") and not complete:
        told = "cannot set completionTime when there is no Complete=True condition"
        errors.append(invalid("status.completionTime", completed, told))
    if completed is None and complete and not _is(former, "Complete"):
        told = "completionTime is required for Complete jobs"
        errors.append(required("status.completionTime", told))
    if started is not None and completed is not None and completed < started:
        told = "completionTime cannot be set before startTime"
        errors.append(invalid("status.completionTime", completed, told))
    if newly and number(status, "active") > 0:
        told = "active>0 is invalid for finished job"
        errors.append(invalid("status.active", number(status, "active"), told))
    if newly and started is None:
        errors.append(required("status.startTime", "startTime is required for finished job"))
    uncounted = mapping(status, "uncountedTerminatedPods")
    if newly and (uncounted.get("failed") or uncounted.get("succeeded")):
        told = "uncountedTerminatedPods needs to be empty for finished job"
        given = as_go("UncountedTerminatedPods", uncounted)
        errors.append(invalid("status.uncountedTerminatedPods", given, told))
    if newly and number(status, "terminating") > 0:
        told = "terminating>0 is invalid for finished job"
        errors.append(invalid("status.terminating", number(status, "terminating"), told))
    if number(status, "ready") > number(status, "active") and status.get("ready") != former.get("ready"):
        told = "cannot set more ready pods than active"
        errors.append(invalid("status.ready", number(status, "ready"), told))
    return errors


def _indexes(status: Mapping[str, Any], former: Mapping[str, Any], spec: Mapping[str, Any]) -> Errors:
    completed, failed = text(status, "completedIndexes"), status.get("failedIndexes")
    completions = spec.get("completions")
    changed = {key for key in ("completedIndexes", "failedIndexes") if status.get(key) != former.get(key)}
    errors: Errors = []
    for key, value in (("completedIndexes", completed), ("failedIndexes", failed)):
        if completions is None or value is None or key not in changed:
            continue
        if key == "failedIndexes" and spec.get("backoffLimitPerIndex") is None:
            continue
        try:
            count_indexes(value, completions)
        except ValueError as problem:
            errors.append(invalid(f"status.{key}", value, f"error parsing {key}: {problem}"))
    if completed and text(spec, "completionMode") != "Indexed" and "completedIndexes" in changed:
        told = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(invalid("status.completedIndexes", completed, told))
    if failed is not None and spec.get("backoffLimitPerIndex") is None and "failedIndexes" in changed:
        told = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(invalid("status.failedIndexes", failed, told))
    if completions is not None and failed is not None and changed:
        errors += _overlap(completed, failed, completions)
    return errors


def _overlap(completed: str, failed: str, completions: int) -> Errors:
    done, broken = (_intervals(told, completions) for told in (completed, failed))
    at, other = 0, 0
    while at < len(done) and other < len(broken):
        (first, last), (start, end) = done[at], broken[other]
        if first <= end and start <= last:
            told = f"failedIndexes and completedIndexes overlap at index: {max(first, start)}"
            return [invalid("status.failedIndexes", failed, told)]
        if first <= start:
            at += 1
        else:
            other += 1
    return []


def _intervals(indexes: str, completions: int) -> list[tuple[int, int]]:
    found = []
    for interval in indexes.split(",") if indexes else []:
        try:
            found.append(index_interval(interval, completions))
        except ValueError:
            continue
    return found


def _no_way_back(status: Mapping[str, Any], former: Mapping[str, Any], spec: Mapping[str, Any]) -> Errors:
    """What was once told stays told."""
    path = "status.conditions"
    errors = [
        without_value(path, f"cannot disable the terminal {kind}=True condition")
        for kind in ("Failed", "Complete", "FailureTarget")
        if _is(former, kind) and not _is(status, kind)
    ]
    for key in ("failed", "succeeded"):
        if number(status, key) < number(former, key):
            told = f"cannot decrease the {key} counter"
            errors.append(invalid(f"status.{key}", number(status, key), told))
    before, after = former.get("completionTime"), status.get("completionTime")
    if before is not None and after is not None and before != after:
        errors.append(invalid("status.completionTime", after, "completionTime cannot be mutated"))
    started = former.get("startTime")
    if started is not None and started != status.get("startTime") and not spec.get("suspend"):
        told = "startTime cannot be removed for unsuspended job"
        errors.append(required("status.startTime", told))
    if _is(former, "SuccessCriteriaMet") and not _is(status, "SuccessCriteriaMet"):
        errors.append(without_value(path, "cannot disable the SuccessCriteriaMet=True condition"))
    return errors

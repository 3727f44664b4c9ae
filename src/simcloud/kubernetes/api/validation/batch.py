"""Jobs and CronJobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import FieldError, invalid, not_supported, required
from simcloud.kubernetes.api.objects import Object, name_of
from simcloud.kubernetes.api.validation.common import (
    Errors,
    check_required_choice,
    immutable,
    items,
    make_errors,
    mapping,
    non_negative_fields,
    number,
    one_of,
    same,
    text,
)
from simcloud.kubernetes.api.validation.go_types import as_go
from simcloud.kubernetes.api.validation.job_policies import pod_failure_policy
from simcloud.kubernetes.api.validation.labels import (
    by_key,
    format_selector,
    is_sound,
    same_selector,
    selector_errors,
    selects,
)
from simcloud.kubernetes.api.validation.names import dns1123_label, size
from simcloud.kubernetes.api.validation.pods.template import check_selected, pod_template
from simcloud.kubernetes.api.validation.pods.warnings import for_template, hostname_warning
from simcloud.kubernetes.api.validation.registry import validates, warns
from simcloud.kubernetes.api.validation.schedule import schedule_error, zone_errors

_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)
_CRON_NAME_LIMIT = 52
_FIXED = {
    "completionMode": None,
    "podFailurePolicy": "PodFailurePolicy",
    "backoffLimitPerIndex": None,
    "managedBy": None,
}
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


@validates("batch", "Job")
def _job(new: Object, old: Object | None) -> Errors:
    spec = mapping(new, "spec")
    if old is not None:
        return _whole_spec(spec) + _check_update(spec, mapping(old, "spec"), old)
    errors = _check_generated_selector(new, spec) + _whole_spec(spec)
    completions = number(spec, "completions")
    if text(spec, "completionMode") == "Indexed" and completions > 0:
        hostname = f"{name_of(new)}-{completions - 1}"
        if dns1123_label(hostname):
            message = f"will not able to create pod with invalid DNS label: {hostname}"
            errors.append(invalid("metadata.name", name_of(new), message))
    return errors


def _check_generated_selector(job: Object, spec: Mapping[str, Any]) -> Errors:
    """The selector and labels the server gives a Job must be the server's."""
    selector = spec.get("selector")
    if spec.get("manualSelector") or selector is None:
        return []
    uid, name = text(mapping(job, "metadata"), "uid"), name_of(job)
    errors: Errors = [] if uid else [required("metadata.uid")]
    labels = mapping(mapping(mapping(spec, "template"), "metadata"), "labels")
    expected = {
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    }
    for key, value in expected.items():
        at = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            errors.append(required(at, f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(invalid(at, by_key(labels), f"must be '{value}'"))
    if is_sound(selector) and not selects(selector, expected):
        errors.append(invalid("spec.selector", format_selector(selector), "`selector` not auto-generated"))
    return errors


def _whole_spec(spec: Mapping[str, Any]) -> Errors:
    errors = _spec("spec", spec)
    selector = spec.get("selector")
    errors += [required("spec.selector")] if selector is None else selector_errors("spec.selector", selector)
    if is_sound(selector):
        errors += check_selected("spec.template", mapping(spec, "template"), selector)
    return errors


def _spec(path: str, spec: Mapping[str, Any]) -> Errors:
    errors = non_negative_fields(path, spec, *_COUNTS)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    errors += _completion(path, spec)
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        errors += pod_failure_policy(f"{path}.podFailurePolicy", policy, spec)
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None:
        known = ("Failed",) if policy is not None else ("Failed", "TerminatingOrFailed")
        errors += one_of(f"{path}.podReplacementPolicy", replacement, known)
    template = mapping(spec, "template")
    errors += pod_template(f"{path}.template", template)
    restart = text(mapping(template, "spec"), "restartPolicy")
    return errors + _restart_policy(f"{path}.template.spec.restartPolicy", restart, policy is not None)


def _restart_policy(path: str, policy: str, has_failure_policy: bool) -> Errors:
    if policy in ("Always", ""):
        return [required(path, 'valid values: "OnFailure", "Never"')]
    if policy not in ("OnFailure", "Never"):
        return [not_supported(path, policy, ("OnFailure", "Never"))]
    if has_failure_policy and policy != "Never":
        return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    return []


def _completion(path: str, spec: Mapping[str, Any]) -> Errors:
    mode, per_index, failed = (
        spec.get(key) for key in ("completionMode", "backoffLimitPerIndex", "maxFailedIndexes")
    )
    errors: Errors = []
    if mode is not None:
        errors += one_of(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        return errors + _check_indexed_job(path, spec)
    if mode in (None, "NonIndexed"):
        message = "requires indexed completion mode"
        for key, value in (("backoffLimitPerIndex", per_index), ("maxFailedIndexes", failed)):
            errors += [] if value is None else [invalid(f"{path}.{key}", value, message)]
    return errors


def _check_indexed_job(path: str, spec: Mapping[str, Any]) -> Errors:
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    errors: Errors = []
    if completions is None:
        errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if completions is not None and failed is not None and failed > completions:
        message = "must be less than or equal to completions"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, message))
    return errors


def _check_update(spec: Mapping[str, Any], former: Mapping[str, Any], old: Object) -> Errors:
    errors = _completions(spec, former)
    errors += same_selector("spec.selector", spec.get("selector"), former.get("selector"))
    errors += _same_template(spec, former, old)
    for key, go_type in _FIXED.items():
        if not same(spec.get(key), former.get(key)):
            value = spec.get(key)
            shown_value = as_go(go_type, value) if go_type and value is not None else value
            errors.append(invalid(f"spec.{key}", shown_value, "field is immutable"))
    return errors


def _completions(spec: Mapping[str, Any], former: Mapping[str, Any]) -> Errors:
    completions = spec.get("completions")
    if text(spec, "completionMode") != "Indexed":
        return immutable("spec.completions", completions, former.get("completions"))
    if completions is None or completions == former.get("completions"):
        return []
    if completions == spec.get("parallelism"):
        return []
    message = "can only be modified in tandem with spec.parallelism"
    return [invalid("spec.completions", completions, message)]


def _same_template(spec: Mapping[str, Any], former: Mapping[str, Any], old: Object) -> Errors:
    template, before = mapping(spec, "template"), mapping(former, "template")
    if former.get("suspend") and _stands_still(mapping(old, "status")):
        before = _with_scheduling_of(template, before)
    if same(template, before):
        return []
    metadata = mapping(template, "metadata")
    shown_metadata = {key: by_key(metadata[key]) for key in ("labels", "annotations") if metadata.get(key)}
    shown_template = {**shown_metadata, "Spec": as_go("PodSpec", mapping(template, "spec"))}
    return [invalid("spec.template", shown_template, "field is immutable")]


def _stands_still(status: Mapping[str, Any]) -> bool:
    """Whether a suspended Job has not started yet, or has no pods any more."""
    if status.get("startTime") is None:
        return True
    suspended = any(
        text(condition, "type") == "Suspended" and text(condition, "status") == "True"
        for condition in items(status, "conditions")
    )
    return suspended and number(status, "active") == 0


def _with_scheduling_of(template: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Allow a suspended Job to change its scheduling and resources before it resumes."""
    spec, pod = mapping(template, "spec"), dict(mapping(before, "spec"))
    for key in _SCHEDULING:
        pod[key] = spec.get(key)
    node = mapping(spec, "affinity").get("nodeAffinity")
    others = {key: value for key, value in mapping(pod, "affinity").items() if key != "nodeAffinity"}
    merged = {**others, **({"nodeAffinity": node} if node is not None else {})}
    pod["affinity"] = merged or None
    for key in ("containers", "initContainers"):
        now, then = items(spec, key), items(pod, key)
        if len(now) == len(then):
            pairs = zip(now, then, strict=True)
            pod[key] = [
                {**former, "resources": mapping(container, "resources")} for container, former in pairs
            ]
    metadata = {**mapping(before, "metadata")}
    for key in ("labels", "annotations"):
        metadata[key] = mapping(template, "metadata").get(key)
    return {**before, "metadata": metadata, "spec": pod}


@warns("batch", "Job")
def _job_warnings(new: Object, old: Object | None) -> list[str]:
    spec = mapping(new, "spec")
    messages = [] if old is not None else hostname_warning(name_of(new), "Pod names and hostnames")
    if old is None:
        messages += for_template("spec.template", mapping(spec, "template"))
    return messages


@validates("batch", "CronJob")
def _cron_job(new: Object, old: Object | None) -> Errors:
    spec, former = mapping(new, "spec"), mapping(old or {}, "spec")
    errors = _schedule(spec, former if old is not None else None)
    errors += non_negative_fields("spec", spec, "startingDeadlineSeconds")
    zone = spec.get("timeZone")
    if zone is not None and (old is None or zone != former.get("timeZone")):
        errors += make_errors("spec.timeZone", zone, zone_errors(zone))
    policies = ("Allow", "Forbid", "Replace")
    errors += check_required_choice("spec.concurrencyPolicy", text(spec, "concurrencyPolicy"), policies)
    job = mapping(mapping(spec, "jobTemplate"), "spec")
    at = "spec.jobTemplate.spec"
    errors += _spec(at, job)
    if job.get("selector") is not None:
        errors.append(
            invalid(f"{at}.selector", format_selector(job["selector"]), "`selector` will be auto-generated")
        )
    if job.get("manualSelector"):
        errors.append(_manual(f"{at}.manualSelector"))
    errors += non_negative_fields("spec", spec, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    if old is None and size(name_of(new)) > _CRON_NAME_LIMIT:
        message = f"must be no more than {_CRON_NAME_LIMIT} characters"
        errors.append(invalid("metadata.name", name_of(new), message))
    return errors


def _manual(path: str) -> FieldError:
    return not_supported(path, True, ("nil", "false"))


def _schedule(spec: Mapping[str, Any], former: Mapping[str, Any] | None) -> Errors:
    path, schedule = "spec.schedule", text(spec, "schedule")
    if not schedule:
        return [required(path)]
    why = schedule_error(schedule)
    errors = [invalid(path, schedule, why)] if why else []
    if "TZ" not in schedule:
        return errors
    if "TZ" not in text(former or {}, "schedule"):
        message = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid(path, schedule, message))
    elif spec.get("timeZone") is not None:
        message = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(invalid(path, schedule, message))
    return errors


@warns("batch", "CronJob")
def _cron_job_warnings(new: Object, old: Object | None) -> list[str]:
    spec = mapping(new, "spec")
    messages = [] if old is not None else hostname_warning(name_of(new), "Pod names and hostnames")
    template = mapping(mapping(mapping(spec, "jobTemplate"), "spec"), "template")
    messages += for_template("spec.jobTemplate.spec.template", template)
    if "TZ" in text(spec, "schedule"):
        messages.append(
            "CRON_TZ or TZ used in spec.spec.schedule is not officially supported, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )
    return messages

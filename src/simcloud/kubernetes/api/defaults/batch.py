"""Defaults of jobs. The selector of a job is made by its strategy, which knows its uid."""

from __future__ import annotations

from simcloud.kubernetes.api.defaults.pods import default_pod_template
from simcloud.kubernetes.api.defaults.registry import defaults, each, fill, part
from simcloud.kubernetes.api.objects import Object, copy

_UNLIMITED = 2**31 - 1


@defaults("batch", "Job")
def default_job(job: Object) -> None:
    """One pod, six retries."""
    spec = part(job, "spec")
    if "parallelism" not in spec:
        fill(spec, completions=1, parallelism=1)
    fill(
        spec,
        backoffLimit=_UNLIMITED if "backoffLimitPerIndex" in spec else 6,
        completionMode="NonIndexed",
        suspend=False,
        manualSelector=False,
        podReplacementPolicy="Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed",
    )
    _default_job_spec(spec)
    labels = part(spec, "template").get("metadata", {}).get("labels")
    metadata = part(job, "metadata")
    if labels and not metadata.get("labels"):
        metadata["labels"] = copy(labels)


@defaults("batch", "CronJob")
def default_cron_job(cron_job: Object) -> None:
    """A few finished jobs are kept; what is a job's own default waits for the job."""
    spec = part(cron_job, "spec")
    fill(
        spec,
        concurrencyPolicy="Allow",
        suspend=False,
        successfulJobsHistoryLimit=3,
        failedJobsHistoryLimit=1,
    )
    _default_job_spec(part(part(spec, "jobTemplate"), "spec"))


def _default_job_spec(spec: Object) -> None:
    default_pod_template(part(spec, "template"))
    for rule in each(spec.get("podFailurePolicy", {}), "rules"):
        for pattern in each(rule, "onPodConditions"):
            fill(pattern, status="True")

"""Jobs: labels and a selector that tell a job's pods from all others."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.strategies.registry import on_create

_UID = "batch.kubernetes.io/controller-uid"
_NAME = "batch.kubernetes.io/job-name"


@on_create("batch", "Job")
def create_job(job: Object) -> None:
    """Label the template with the job's name and uid and select by uid, unless the user selects by hand."""
    spec, metadata = job.setdefault("spec", {}), job["metadata"]
    if spec.get("manualSelector"):
        return
    name, uid = metadata.get("name", ""), metadata.get("uid", "")
    labels = spec.setdefault("template", {}).setdefault("metadata", {}).setdefault("labels", {})
    for label, value in (("job-name", name), (_NAME, name), ("controller-uid", uid), (_UID, uid)):
        labels.setdefault(label, value)
    spec.setdefault("selector", {}).setdefault("matchLabels", {}).setdefault(_UID, uid)
    if not metadata.get("labels"):
        metadata["labels"] = copy(labels)

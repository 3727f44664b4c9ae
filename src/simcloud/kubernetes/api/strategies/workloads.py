"""Strategies of Deployments, DaemonSets and Jobs, beyond counting generations."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.strategies.registry import on_create, on_status_update, on_update, take

_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"

_UID = "batch.kubernetes.io/controller-uid"
_NAME = "batch.kubernetes.io/job-name"


@on_status_update("apps", "Deployment")
def update_deployment_status(new: Object, old: Object) -> None:
    """Labels are not a controller's to change."""
    take(new["metadata"], old["metadata"], "labels")


@on_create("apps", "DaemonSet")
def create_daemon_set(daemon_set: Object) -> None:
    """An annotation counts the templates of a DaemonSet."""
    _set_template_generation(daemon_set, max(_template_generation(daemon_set), 1))


@on_update("apps", "DaemonSet")
def update_daemon_set(new: Object, old: Object) -> None:
    """A changed template counts as one more, whatever the user wrote there."""
    changed = new.get("spec", {}).get("template") != old.get("spec", {}).get("template")
    _set_template_generation(new, _template_generation(old) + (1 if changed else 0))


@on_status_update("apps", "DaemonSet")
def update_daemon_set_status(new: Object, old: Object) -> None:
    """The count is part of what is wanted, so it stays."""
    _set_template_generation(new, _template_generation(old))


def _template_generation(daemon_set: Object) -> int:
    text: str = daemon_set["metadata"].get("annotations", {}).get(_TEMPLATE_GENERATION, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _set_template_generation(daemon_set: Object, generation: int) -> None:
    daemon_set["metadata"].setdefault("annotations", {})[_TEMPLATE_GENERATION] = str(generation)


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

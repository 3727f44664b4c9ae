"""Pods and pod templates: the rules of their specs, their updates and their status."""

from __future__ import annotations

from simcloud.kubernetes.api.field_errors import forbidden
from simcloud.kubernetes.api.objects import Object, name_of
from simcloud.kubernetes.api.validation.common import Errors, items, mapping, non_negative, text
from simcloud.kubernetes.api.validation.pods import resize, updates
from simcloud.kubernetes.api.validation.pods.annotations import annotations_of_pod, check_annotations_update
from simcloud.kubernetes.api.validation.pods.containers import only_in_pods
from simcloud.kubernetes.api.validation.pods.spec import pod_spec, service_account_tokens
from simcloud.kubernetes.api.validation.pods.template import pod_template
from simcloud.kubernetes.api.validation.pods.warnings import for_pod, for_template
from simcloud.kubernetes.api.validation.registry import validates, warns

_ANNOTATIONS = "metadata.annotations"


@validates("", "Pod")
def _pod(new: Object, old: Object | None) -> Errors:
    return _check_create(new) if old is None else _whole(new) + _check_update(new, old)


def _annotations(obj: Object) -> dict[str, str]:
    return mapping(mapping(obj, "metadata"), "annotations")


def _whole(pod: Object) -> Errors:
    """What holds for a pod at any time."""
    spec = mapping(pod, "spec")
    errors = annotations_of_pod(_ANNOTATIONS, _annotations(pod), spec)
    errors += pod_spec("spec", spec, name_of(pod), in_pod=True)
    errors += service_account_tokens("spec", spec)
    for key in ("containers", "initContainers"):
        for index, container in enumerate(items(spec, key)):
            errors += only_in_pods(f"spec.{key}[{index}]", container)
    return errors


def _check_create(pod: Object) -> Errors:
    spec = mapping(pod, "spec")
    errors = _whole(pod)
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None:
        errors += non_negative("spec.terminationGracePeriodSeconds", grace)
    if items(spec, "ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if text(spec, "nodeName") and items(spec, "schedulingGates"):
        message = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", message))
    return errors


def _check_update(new: Object, old: Object) -> Errors:
    errors = check_annotations_update(_ANNOTATIONS, _annotations(new), _annotations(old))
    return errors + updates.check_spec_update(mapping(new, "spec"), mapping(old, "spec"))


def validate_ephemeral_containers(new: Object, old: Object) -> Errors:
    """The rules of a pod's ``ephemeralcontainers`` subresource, after those of metadata."""
    return _whole(new) + updates.check_ephemeral_containers_update(new, old)


def validate_resize(new: Object, old: Object) -> Errors:
    """The rules of a pod's ``resize`` subresource, after those of metadata."""
    return _whole(new) + resize.check_resize(new, old)


@warns("", "Pod")
def _pod_warnings(new: Object, old: Object | None) -> list[str]:
    if old is not None:
        return []
    return for_pod(name_of(new), mapping(new, "spec"))


@validates("", "PodTemplate")
def _pod_template(new: Object, old: Object | None) -> Errors:
    return pod_template("template", mapping(new, "template"))


@warns("", "PodTemplate")
def _pod_template_warnings(new: Object, old: Object | None) -> list[str]:
    return for_template("template", mapping(new, "template"))

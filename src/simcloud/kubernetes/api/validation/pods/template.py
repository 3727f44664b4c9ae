"""Pod templates, as workloads hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simcloud.kubernetes.api.field_errors import forbidden, invalid, not_supported
from simcloud.kubernetes.api.validation.common import Errors, mapping, text
from simcloud.kubernetes.api.validation.labels import annotation_errors, by_key, label_errors, selects
from simcloud.kubernetes.api.validation.pods.annotations import annotations_of_pod
from simcloud.kubernetes.api.validation.pods.spec import pod_spec

NOT_SELECTED = "`selector` does not match template `labels`"


def pod_template(path: str, template: Mapping[str, Any]) -> Errors:
    """A template's labels, annotations and spec."""
    metadata, spec = mapping(template, "metadata"), mapping(template, "spec")
    annotations = metadata.get("annotations")
    errors = label_errors(f"{path}.labels", metadata.get("labels"))
    errors += annotation_errors(f"{path}.annotations", annotations)
    errors += annotations_of_pod(f"{path}.annotations", annotations, spec)
    errors += pod_spec(f"{path}.spec", spec)
    if spec.get("ephemeralContainers"):
        message = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", message))
    return errors


def check_selected(path: str, template: Mapping[str, Any], selector: Mapping[str, Any] | None) -> Errors:
    """A workload must select the pods it makes."""
    labels = mapping(template, "metadata").get("labels")
    if selects(selector, labels):
        return []
    return [invalid(f"{path}.metadata.labels", by_key(labels), NOT_SELECTED)]


def always_running(path: str, template: Mapping[str, Any], kind: str) -> Errors:
    """The pods of a workload without an end restart always and have no deadline."""
    spec = mapping(template, "spec")
    errors: Errors = []
    if text(spec, "restartPolicy") != "Always":
        errors.append(not_supported(f"{path}.spec.restartPolicy", text(spec, "restartPolicy"), ["Always"]))
    if spec.get("activeDeadlineSeconds") is not None:
        message = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden(f"{path}.spec.activeDeadlineSeconds", message))
    return errors

"""``scale``: the number of replicas, in the same form for every kind that has replicas."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.custom_resources import version_of
from simcloud.kubernetes.api.errors import Conflict, Invalid
from simcloud.kubernetes.api.field_errors import invalid
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.resources import Resource
from simcloud.kubernetes.api.selectors import from_label_selector
from simcloud.kubernetes.api.subresources.request import Request


def serve(request: Request) -> Object:
    """Get the scale, or set it."""
    shown = scale_of(request.resource, request.present())
    if request.verb == "get":
        return shown
    said = request.body("autoscaling", "v1", "Scale", shown)
    replicas = at(said, "spec", "replicas", default=0)
    if replicas < 0:
        error = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise Invalid("autoscaling", "Scale", request.name, [error])
    version = at(said, "metadata", "resourceVersion", default="")
    if version not in ("", shown["metadata"]["resourceVersion"]):
        raise Conflict(request.resource, request.name)

    def set_replicas(obj: Object) -> None:
        _put(obj, _paths(request.resource)[0], replicas)

    return scale_of(request.resource, request.change(set_replicas))


def scale_of(resource: Resource, obj: Object) -> Object:
    """The Scale that stands for an object."""
    metadata = obj["metadata"]
    spec_path, status_path, selector_path = _paths(resource)
    copied = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    replicas = at(obj, *spec_path)
    status: Object = {"replicas": at(obj, *status_path, default=0)}
    selector = at(obj, *selector_path) if selector_path else None
    if selector:
        status["selector"] = selector if isinstance(selector, str) else _selector_text(resource, selector)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in copied if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _selector_text(resource: Resource, selector: Any) -> str:
    if resource.key == ("", "replicationcontrollers"):
        selector = {"matchLabels": selector}
    return str(from_label_selector(selector))


def _paths(resource: Resource) -> tuple[list[str], list[str], list[str]]:
    if resource.custom is None:
        return ["spec", "replicas"], ["status", "replicas"], ["spec", "selector"]
    paths = version_of(resource)["subresources"]["scale"]
    return (
        _steps(paths["specReplicasPath"]),
        _steps(paths["statusReplicasPath"]),
        _steps(paths.get("labelSelectorPath", "")),
    )


def _steps(path: str) -> list[str]:
    return [step for step in path.split(".") if step]


def _put(obj: Object, path: list[str], value: Any) -> None:
    for step in path[:-1]:
        obj = obj.setdefault(step, {})
    obj[path[-1]] = value

"""Transformers for all resources of a kustomization: namespace, names, labels, annotations, images, replicas."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.kubectl.errors import KubectlError
from simcloud.kubectl.kustomize.resources import Res, is_namespaced
from simcloud.kubernetes.api import Catalogue, Object

KEEP_NAMES: Final = ("Namespace", "CustomResourceDefinition", "APIService")
TEMPLATES: Final = {
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "ReplicationController"),
        (("spec", "template"),),
    ),
    "CronJob": (("spec", "jobTemplate"), ("spec", "jobTemplate", "spec", "template")),
}
SELECTORS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("Service", "ReplicationController"), ("spec", "selector")),
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"), ("spec", "selector", "matchLabels")
    ),
}
LOOSE_SELECTORS: Final[dict[str, tuple[str, ...]]] = {
    "PodDisruptionBudget": ("spec", "selector", "matchLabels"),
    "NetworkPolicy": ("spec", "podSelector", "matchLabels"),
    "Job": ("spec", "selector", "matchLabels"),
}
SCALED: Final = ("Deployment", "ReplicationController", "ReplicaSet", "StatefulSet")


def set_namespace(resources: list[Res], namespace: str, catalogue: Catalogue) -> None:
    """Put everything that lives in namespaces into one."""
    for resource in resources:
        if resource.kind == "Namespace":
            resource.rename(namespace)
        elif is_namespaced(catalogue, resource.obj):
            resource.obj["metadata"]["namespace"] = namespace
        if resource.kind in ("RoleBinding", "ClusterRoleBinding"):
            for subject in resource.obj.get("subjects") or ():
                if subject.get("kind") == "ServiceAccount" and subject.get("name") == "default":
                    subject["namespace"] = namespace


def set_names(resources: list[Res], prefix: str, suffix: str) -> None:
    """Put words before and after the names."""
    for resource in resources:
        if resource.kind not in KEEP_NAMES:
            resource.rename(f"{prefix}{resource.name}{suffix}")


def add_labels(resources: list[Res], labels: dict[str, str], *, selectors: bool, templates: bool) -> None:
    """Label everything, and if asked for what it makes and what it selects by."""
    for resource in resources:
        _put(resource.obj, ("metadata", "labels"), labels)
        if selectors or templates:
            for path in TEMPLATES.get(resource.kind, ()):
                _put(resource.obj, (*path, "metadata", "labels"), labels)
        if selectors:
            if resource.kind in SELECTORS:
                _put(resource.obj, SELECTORS[resource.kind], labels)
            _put(resource.obj, LOOSE_SELECTORS.get(resource.kind, ("",)), labels, create=False)


def add_annotations(resources: list[Res], annotations: dict[str, str]) -> None:
    """Annotate everything and what it makes."""
    for resource in resources:
        _put(resource.obj, ("metadata", "annotations"), annotations)
        for path in TEMPLATES.get(resource.kind, ()):
            _put(resource.obj, (*path, "metadata", "annotations"), annotations)


def _put(obj: Object, path: tuple[str, ...], pairs: dict[str, str], *, create: bool = True) -> None:
    here: Any = obj
    for step in path:
        if not isinstance(here, dict):
            return
        if not isinstance(here.get(step), dict):
            if not create:
                return
            here[step] = {}
        here = here[step]
    here.update(pairs)


def set_images(resources: list[Res], images: list[Object]) -> None:
    """Other names, tags and digests for images, wherever containers are."""
    for image in images:
        name = str(image.get("name", ""))
        form = re.compile(rf"{re.escape(name)}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?")
        for resource in resources:
            _set_image(resource.obj, image, form)


def _set_image(value: Any, image: Object, form: re.Pattern[str]) -> None:
    if isinstance(value, list):
        for item in value:
            _set_image(item, image, form)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key in ("containers", "initContainers") and isinstance(item, list):
            for container in item:
                if isinstance(container, dict) and (found := form.fullmatch(str(container.get("image", "")))):
                    container["image"] = _image(image, found)
        else:
            _set_image(item, image, form)


def _image(image: Object, found: re.Match[str]) -> str:
    name = image.get("newName") or image["name"]
    tag, digest = image.get("newTag"), image.get("digest")
    if tag and digest:
        return f"{name}:{tag}@{digest}"
    if digest:
        return f"{name}@{digest}"
    if tag:
        return f"{name}:{tag}"
    return f"{name}{found[1] or ''}{found[2] or ''}"


def set_replicas(resources: list[Res], replicas: list[Object]) -> None:
    """How many of a workload there are."""
    for said in replicas:
        name = str(said.get("name", ""))
        found = [resource for resource in resources if resource.kind in SCALED and resource.has_name(name)]
        if not found:
            kinds = "Deployment, ReplicationController, ReplicaSet, StatefulSet"
            raise KubectlError(
                f"resource with name {name} does not match a config with the following GVK [{kinds}]"
            )
        for resource in found:
            resource.obj.setdefault("spec", {})["replicas"] = said.get("count", 0)

"""References between objects by name, updated when the target is renamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from simcloud.kubectl.kustomize.resources import Res
from simcloud.kubernetes.api import Object, at

POD_PATHS: Final = {
    "Pod": ("spec",),
    "CronJob": ("spec", "jobTemplate", "spec", "template", "spec"),
    **dict.fromkeys(
        ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "ReplicationController"),
        ("spec", "template", "spec"),
    ),
}
Reference = tuple[str, Object, str]
"""The kind that is meant, the map that names it, and the key of the name there."""


def mend(resources: list[Res]) -> None:
    """Let every reference to a resource that was renamed say its present name."""
    known: dict[str, list[Res]] = {}
    for resource in resources:
        known.setdefault(resource.kind, []).append(resource)
    for resource in resources:
        for kind, holder, key in _references(resource):
            name = holder.get(key)
            found = _find_referent(known.get(kind, []), name, holder, resource)
            if found is None:
                continue
            holder[key] = found.name
            if kind == "ServiceAccount" and key == "name" and found.namespace:
                holder["namespace"] = found.namespace


def _find_referent(candidates: list[Res], name: Any, holder: Object, referrer: Res) -> Res | None:
    if not isinstance(name, str):
        return None
    named = [resource for resource in candidates if resource.has_name(name)]
    if len(named) > 1:
        place = holder.get("namespace") or referrer.namespace
        named = [resource for resource in named if resource.namespace == place] or named
        named = [resource for resource in named if resource.name == name] or named
    return named[0] if named else None


def _references(one: Res) -> Iterator[Reference]:
    obj = one.obj
    if one.kind in POD_PATHS:
        yield from _of_pod(at(obj, *POD_PATHS[one.kind]) or {})
    if one.kind == "StatefulSet" and isinstance(obj.get("spec"), dict):
        yield "Service", obj["spec"], "serviceName"
    target = at(obj, "spec", "scaleTargetRef")
    if isinstance(target, dict):
        yield str(target.get("kind")), target, "name"
    if one.kind == "Ingress":
        yield from _of_ingress(obj.get("spec") or {})
    if one.kind in ("RoleBinding", "ClusterRoleBinding"):
        reference = obj.get("roleRef") or {}
        yield str(reference.get("kind")), reference, "name"
        for subject in obj.get("subjects") or ():
            if subject.get("kind") == "ServiceAccount":
                yield "ServiceAccount", subject, "name"
    if one.kind == "ServiceAccount":
        for part in ("secrets", "imagePullSecrets"):
            for secret in obj.get(part) or ():
                yield "Secret", secret, "name"
    if one.kind == "PersistentVolumeClaim" and isinstance(obj.get("spec"), dict):
        yield "PersistentVolume", obj["spec"], "volumeName"
        yield "StorageClass", obj["spec"], "storageClassName"


def _of_pod(spec: Object) -> Iterator[Reference]:
    yield "ServiceAccount", _Alone(spec), "serviceAccountName"
    yield "PriorityClass", spec, "priorityClassName"
    for secret in spec.get("imagePullSecrets") or ():
        yield "Secret", secret, "name"
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for variable in container.get("env") or ():
            source = variable.get("valueFrom") or {}
            for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
                if isinstance(source.get(key), dict):
                    yield kind, source[key], "name"
        for source in container.get("envFrom") or ():
            for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
                if isinstance(source.get(key), dict):
                    yield kind, source[key], "name"
    for volume in spec.get("volumes") or ():
        yield from _of_volume(volume)


class _Alone(dict[str, Any]):
    """A map in which only the name is set, and no namespace beside it."""

    def __init__(self, real: Object) -> None:
        super().__init__(real)
        self._real = real

    def __setitem__(self, key: str, value: Any) -> None:
        if key != "namespace":
            self._real[key] = value


def _of_volume(volume: Object) -> Iterator[Reference]:
    for kind, part, key in (
        ("ConfigMap", "configMap", "name"),
        ("Secret", "secret", "secretName"),
        ("PersistentVolumeClaim", "persistentVolumeClaim", "claimName"),
    ):
        if isinstance(volume.get(part), dict):
            yield kind, volume[part], key
    for source in at(volume, "projected", "sources") or ():
        for kind, part in (("ConfigMap", "configMap"), ("Secret", "secret")):
            if isinstance(source.get(part), dict):
                yield kind, source[part], "name"


def _of_ingress(spec: Object) -> Iterator[Reference]:
    backends = [spec.get("defaultBackend")]
    for rule in spec.get("rules") or ():
        backends.extend(path.get("backend") for path in at(rule, "http", "paths") or ())
    for backend in backends:
        service = at(backend, "service")
        if isinstance(service, dict):
            yield "Service", service, "name"
    for tls in spec.get("tls") or ():
        yield "Secret", tls, "secretName"

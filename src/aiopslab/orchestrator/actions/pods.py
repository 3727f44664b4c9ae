"""Finds the pods of a workload, a Service, or a pod's own name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aiopslab.orchestrator.actions.environment_actions import get_names
from simcloud.kubernetes.api import Key, LabelSelector, Object, RevisionLog, selectors

WORKLOADS: Final = (
    ("apps", "deployments"), ("apps", "statefulsets"), ("apps", "daemonsets"), ("apps", "replicasets"), ("batch", "jobs"),
)  # fmt: skip
SHORT: Final = {
    "deploy": "deployments", "deployment": "deployments", "sts": "statefulsets", "statefulset": "statefulsets",
    "ds": "daemonsets", "daemonset": "daemonsets", "rs": "replicasets", "replicaset": "replicasets", "job": "jobs", "cj": "cronjobs", "cronjob": "cronjobs",
    "svc": "services", "service": "services", "po": "pods", "pod": "pods",
}  # fmt: skip


class UnknownName(LookupError):
    """No workload, Service or pod has the name; ``known`` are the existing names."""

    def __init__(self, known: list[str]) -> None:
        super().__init__("no such name")
        self.known = known


def find_pods(log: RevisionLog, namespace: str, name: str) -> list[Object]:
    """Return the pods that a name refers to, sorted by name; raises ``UnknownName``."""
    kind, _, bare = name.rpartition("/")
    plural = SHORT.get(kind.lower(), kind.lower())
    wanted = [selector for found, selector in _find_selectors(log, namespace, bare) if plural in ("", found)]
    pods = log.objects("", "pods", namespace)
    chosen = [
        pod
        for pod in pods
        if (plural in ("", "pods") and pod["metadata"]["name"] == bare)
        or any(selector.matches(pod["metadata"].get("labels")) for selector in wanted)
    ]
    if not chosen and not wanted:
        raise UnknownName(_find_names(log, namespace))
    return chosen


def _find_selectors(log: RevisionLog, namespace: str, name: str) -> Iterator[tuple[str, LabelSelector]]:
    for group, plural in WORKLOADS:
        found = log.get(Key(group, plural, namespace, name))
        if found is not None:
            yield plural, selectors.from_label_selector(found["spec"].get("selector"))
    if log.get(Key("batch", "cronjobs", namespace, name)) is not None:
        yield "cronjobs", selectors.NOTHING  # the name is valid even before the first run
        for job in log.objects("batch", "jobs", namespace):
            if any(owner["name"] == name for owner in job["metadata"].get("ownerReferences") or ()):
                yield "cronjobs", selectors.from_label_selector(job["spec"].get("selector"))
    service = log.get(Key("", "services", namespace, name))
    if service is not None:
        labels = service["spec"].get("selector")
        yield "services", selectors.from_set(labels) if labels else selectors.NOTHING


def _find_names(log: RevisionLog, namespace: str) -> list[str]:
    """Return the names of workloads and Services, or of pods if there are none."""
    found = [
        name
        for group, plural in (*WORKLOADS[:3], ("batch", "jobs"), ("batch", "cronjobs"), ("", "services"))
        for name in get_names(log.objects(group, plural, namespace))
    ]
    return sorted(dict.fromkeys(found)) or get_names(log.objects("", "pods", namespace))

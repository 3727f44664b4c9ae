"""Which pods a name means: those of a workload, those behind a Service, or a pod itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aiopslab.orchestrator.actions.base import names
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import NOTHING, LabelSelector, from_label_selector, from_set
from simcloud.kubernetes.api.store import Key, RevisionLog

WORKLOADS: Final = (
    ("apps", "deployments"), ("apps", "statefulsets"), ("apps", "daemonsets"), ("apps", "replicasets"), ("batch", "jobs"),
)  # fmt: skip
SHORT: Final = {
    "deploy": "deployments", "deployment": "deployments", "sts": "statefulsets", "statefulset": "statefulsets",
    "ds": "daemonsets", "daemonset": "daemonsets", "rs": "replicasets", "replicaset": "replicasets", "job": "jobs", "cj": "cronjobs", "cronjob": "cronjobs",
    "svc": "services", "service": "services", "po": "pods", "pod": "pods",
}  # fmt: skip


class NobodyOfThatName(LookupError):
    """No workload, Service or pod has the name; ``known`` are the names there are."""

    def __init__(self, known: list[str]) -> None:
        super().__init__("no such name")
        self.known = known


def pods_named(log: RevisionLog, namespace: str, name: str) -> list[Object]:
    """The pods that a name stands for, sorted by name; ``NobodyOfThatName`` when nothing has it."""
    kind, _, bare = name.rpartition("/")
    plural = SHORT.get(kind.lower(), kind.lower())
    selectors = [selector for found, selector in _selectors(log, namespace, bare) if plural in ("", found)]
    pods = log.objects("", "pods", namespace)
    chosen = [
        pod
        for pod in pods
        if (plural in ("", "pods") and pod["metadata"]["name"] == bare)
        or any(one.matches(pod["metadata"].get("labels")) for one in selectors)
    ]
    if not chosen and not selectors:
        raise NobodyOfThatName(_known(log, namespace))
    return chosen


def _selectors(log: RevisionLog, namespace: str, name: str) -> Iterator[tuple[str, LabelSelector]]:
    for group, plural in WORKLOADS:
        found = log.get(Key(group, plural, namespace, name))
        if found is not None:
            yield plural, from_label_selector(found["spec"].get("selector"))
    if log.get(Key("batch", "cronjobs", namespace, name)) is not None:
        yield "cronjobs", NOTHING  # it is known by this name also before its first run
        for job in log.objects("batch", "jobs", namespace):
            if any(owner["name"] == name for owner in job["metadata"].get("ownerReferences") or ()):
                yield "cronjobs", from_label_selector(job["spec"].get("selector"))
    service = log.get(Key("", "services", namespace, name))
    if service is not None:
        labels = service["spec"].get("selector")
        yield "services", from_set(labels) if labels else NOTHING


def _known(log: RevisionLog, namespace: str) -> list[str]:
    """What may be named; pods and replica sets only where nothing stands for them."""
    found = [
        name
        for group, plural in (*WORKLOADS[:3], ("batch", "jobs"), ("batch", "cronjobs"), ("", "services"))
        for name in names(log.objects(group, plural, namespace))
    ]
    return sorted(dict.fromkeys(found)) or names(log.objects("", "pods", namespace))

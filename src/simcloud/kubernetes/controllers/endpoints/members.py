"""Index of the pods of Services, for the controllers that publish endpoints.

Both directions are indexed by labels, so that a change of a pod finds its Services, and a Service its pods, without a
search of the namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.api.times import parse, rfc3339
from simcloud.kubernetes.controller import Controller, NamespacedName
from simcloud.kubernetes.controllers.pods import is_leaving, is_ready, is_terminal

TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time"
HEADLESS = "service.kubernetes.io/headless"


class LabelIndex:
    """Objects of a namespace by each of some labels."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str, str], dict[str, Object]] = {}

    def put(self, namespace: str, labels: Iterable[tuple[str, str]], obj: Object) -> None:
        """Remember an object under labels."""
        for key, value in labels:
            self._objects.setdefault((namespace, key, value), {})[obj["metadata"]["name"]] = obj

    def note(self, write: Revision) -> None:
        """Follow a write of an object that stands under its own labels."""
        namespace, labels = write.key.namespace, labels_of(write.object)
        before = labels_of(write.before) if write.before is not None else {}
        if write.change == "DELETED" or before != labels:
            self.drop(namespace, before.items(), write.key.name)
        if write.change != "DELETED":
            self.put(namespace, labels.items(), write.object)

    def drop(self, namespace: str, labels: Iterable[tuple[str, str]], name: str) -> None:
        """Forget an object."""
        for key, value in labels:
            found = self._objects.get((namespace, key, value), {})
            found.pop(name, None)
            if not found:
                self._objects.pop((namespace, key, value), None)

    def get(self, namespace: str, key: str, value: str) -> dict[str, Object]:
        """All with a label, by name."""
        return self._objects.get((namespace, key, value), {})


class Members:
    """Selecting objects and pods, each found from the other. A selector here is a plain map of labels."""

    def __init__(self) -> None:
        self._pods = LabelIndex()
        self._services = LabelIndex()

    def see_pod(self, write: Revision) -> None:
        """Take note of a pod's change."""
        self._pods.note(write)

    def see_service(self, write: Revision) -> None:
        """Take note of a Service's change."""
        namespace, name = write.key.namespace, write.key.name
        if write.before is not None:
            self._services.drop(namespace, _first(selector_of(write.before)), name)
        if write.change != "DELETED":
            self._services.put(namespace, _first(selector_of(write.object)), write.object)

    def services(self, pod: Object) -> Iterator[str]:
        """The names of the Services that choose a pod."""
        labels = labels_of(pod)
        for key, value in labels.items():
            for name, service in self._services.get(pod["metadata"]["namespace"], key, value).items():
                if selector_of(service).items() <= labels.items():
                    yield name

    def pods(self, service: Object) -> list[Object]:
        """The pods that a Service chooses, by name."""
        selector, namespace = selector_of(service), service["metadata"]["namespace"]
        found = min((self._pods.get(namespace, *item) for item in selector.items()), key=len, default={})
        return [found[name] for name in sorted(found) if selector.items() <= labels_of(found[name]).items()]


def labels_of(obj: Object) -> dict[str, str]:
    """An object's labels."""
    return obj["metadata"].get("labels") or {}


def selector_of(service: Object) -> dict[str, str]:
    """A Service's selector; empty if it chooses nothing."""
    return service["spec"].get("selector") or {}


def is_headless(service: Object) -> bool:
    """Whether a Service has no address of its own."""
    return service["spec"].get("clusterIP", "") in ("", "None")


def is_published(pod: Object, leaving_too: bool) -> bool:
    """Whether a pod has an address that endpoints may list."""
    if is_terminal(pod) or not pod["status"].get("podIP"):
        return False
    return leaving_too or not is_leaving(pod)


def addresses(pod: Object, family: str) -> list[str]:
    """A pod's addresses of a family, ``IPv4`` or ``IPv6``."""
    known = [entry["ip"] for entry in pod["status"].get("podIPs") or ()] or [pod["status"]["podIP"]]
    return [ip for ip in known if (":" in ip) == (family == "IPv6")]


def hostname(pod: Object, service: Object) -> str:
    """The name under which a headless Service tells of a pod, if it does."""
    spec = pod["spec"]
    same = spec.get("subdomain") == service["metadata"]["name"]
    return spec.get("hostname", "") if same else ""


def find_port(pod: Object, port: Object) -> int | None:
    """The number of a Service's target port in a pod; None if the pod has no port of that name."""
    target = port.get("targetPort", port["port"])
    if isinstance(target, int):
        return target
    sidecars = [
        init_container
        for init_container in pod["spec"].get("initContainers") or ()
        if init_container.get("restartPolicy") == "Always"
    ]
    for container in [*pod["spec"]["containers"], *sidecars]:
        for candidate in container.get("ports") or ():
            if candidate.get("name") == target and candidate.get("protocol", "TCP") == port.get(
                "protocol", "TCP"
            ):
                number: int = candidate["containerPort"]
                return number
    return None


def target_reference(pod: Object) -> Object:
    """How an endpoint names its pod."""
    metadata = pod["metadata"]
    return {
        "kind": "Pod",
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata["uid"],
    }


class TriggerTimes:
    """Since when a Service's endpoints are out of date: the earliest change not written yet."""

    def __init__(self) -> None:
        self._seen: dict[NamespacedName, tuple[float, dict[str, float]]] = {}

    def next(self, key: NamespacedName, service: Object, pods: list[Object]) -> str | None:
        """The time of the earliest change since the last call; None if there was none."""
        made_before, ready_before = self._seen.get(key, (0.0, {}))
        made = parse(service["metadata"]["creationTimestamp"])
        changes = [made] if made > made_before else []
        ready = {pod["metadata"]["name"]: _ready_changed(pod) for pod in pods}
        changes += [since for name, since in ready.items() if since > ready_before.get(name, 0.0)]
        self._seen[key] = (made, ready)
        return rfc3339(min(changes)) if changes else None

    def forget(self, key: NamespacedName) -> None:
        """The Service is gone."""
        self._seen.pop(key, None)


class ServiceController(Controller):
    """A control loop over Services that looks again whenever their pods change in a way that shows."""

    members: Members
    triggers: TriggerTimes

    def watch(self) -> None:
        self.members = Members()
        self.triggers = TriggerTimes()
        self.follow("services", self._see_service)
        self.follow("pods", self._see_pod)

    def _see_service(self, write: Revision) -> None:
        self.members.see_service(write)
        self.enqueue(write)

    def _see_pod(self, write: Revision) -> None:
        self.members.see_pod(write)
        if write.before is not None and write.change == "MODIFIED" and not shows(write.before, write.object):
            return
        for pod in (write.before, write.object):
            for name in self.members.services(pod) if pod is not None else ():
                self.queue.add(NamespacedName(write.key.namespace, name))

    def find_managed(self, key: NamespacedName) -> Object | None:
        """The Service of a key, if its endpoints come from pods."""
        service = self.client.get("services", *key)
        if service is None:
            self.triggers.forget(key)
            return None
        if service["spec"].get("type") == "ExternalName" or not selector_of(service):
            return None
        return service


def shows(before: Object, after: Object) -> bool:
    """Whether a pod's change can be seen in endpoints."""
    return _visible(before) != _visible(after)


def _visible(pod: Object) -> tuple[object, ...]:
    spec, status = pod["spec"], pod["status"]
    return (
        is_leaving(pod),
        is_terminal(pod),
        is_ready(pod),
        _ready_changed(pod),
        status.get("podIP"),
        status.get("podIPs"),
        spec.get("nodeName"),
        spec.get("hostname"),
        spec.get("subdomain"),
        labels_of(pod),
    )


def _ready_changed(pod: Object) -> float:
    for condition in at(pod, "status", "conditions", default=()):
        if condition["type"] == "Ready" and condition.get("lastTransitionTime"):
            return parse(condition["lastTransitionTime"])
    return 0.0


def _first(selector: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(selector.items())[:1]

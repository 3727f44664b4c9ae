"""What an object uses of a quota: itself as one, and what its spec asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from aiopslab.cluster.api.objects import Object, at
from aiopslab.cluster.api.quantity import parse, render
from aiopslab.cluster.api.times import parse as parse_time
from aiopslab.cluster.controllers.volume_matching import class_of

PLAIN_COUNTS: Final = {
    "pods": "pods",
    "services": "services",
    "persistentvolumeclaims": "persistentvolumeclaims",
    "configmaps": "configmaps",
    "secrets": "secrets",
    "replicationcontrollers": "replicationcontrollers",
    "resourcequotas": "resourcequotas",
}
"""Quota names of resources that have one besides ``count/…``."""

_STANDARD: Final = ("cpu", "memory", "ephemeral-storage")
_CLASS_SUFFIX: Final = ".storageclass.storage.k8s.io/"


class Amount:
    """A sum that remembers how the first thing in it was written: in Mi, in m, or plain."""

    __slots__ = ("family", "value")

    def __init__(self) -> None:
        self.value = Fraction(0)
        self.family = "decimal"

    def add(self, text: str | int) -> None:
        """Add a quantity."""
        value = parse(text)
        if not self.value and value:
            self.family = "binary" if str(text).endswith("i") else "decimal"
        self.value += value

    def __str__(self) -> str:
        return render(self.value, self.family)


def resource_of(name: str) -> str | None:
    """The full name of the resource whose objects a quota name measures; None if it is of no known kind."""
    if name.startswith("count/"):
        return name.removeprefix("count/")
    if name.startswith("services."):
        return "services"
    if name in PLAIN_COUNTS:
        return name
    if name == "requests.storage" or _CLASS_SUFFIX in name:
        return "persistentvolumeclaims"
    if name in _STANDARD or name.startswith(("requests.", "limits.", "hugepages-")):
        return "pods"
    return None


def usage(resource: str, obj: Object, names: list[str], now_s: float) -> Iterator[tuple[str, str | int]]:
    """What an object uses of each of some quota names of its resource."""
    measure: Callable[[Object, str], str | int | None] = _MEASURES.get(resource, lambda *_: None)
    live = resource != "pods" or is_counted(obj, now_s)
    for name in names:
        if name == f"count/{resource}":
            yield name, 1
        elif not live:
            continue
        elif name == resource and name in PLAIN_COUNTS:
            yield name, 1
        else:
            amount = measure(obj, name)
            if amount is not None:
                yield name, amount


def is_counted(pod: Object, now_s: float) -> bool:
    """Whether a pod still uses anything: not once it has ended, or should have."""
    if at(pod, "status", "phase") in ("Failed", "Succeeded"):
        return False
    leaves = pod["metadata"].get("deletionTimestamp")
    # The time of deletion already holds the grace period once; the genuine rule adds it again.
    grace_s = pod["metadata"].get("deletionGracePeriodSeconds") or 0
    return leaves is None or now_s <= parse_time(leaves) + grace_s


def pod_amount(pod: Object, kind: str, resource: str) -> str | int | None:
    """What a pod asks for of a resource, ``requests`` or ``limits``; None if nothing."""
    spec = pod["spec"]
    own = at(spec, "resources", kind, resource)
    texts: list[str] = []
    running, peak = Fraction(0), Fraction(0)
    for container in spec.get("initContainers") or ():
        text = at(container, "resources", kind, resource)
        value = parse(text) if text is not None else Fraction(0)
        texts += [text] if text is not None else []
        if container.get("restartPolicy") == "Always":
            running += value
            peak = max(peak, running)
        else:
            peak = max(peak, running + value)
    for container in spec.get("containers") or ():
        text = at(container, "resources", kind, resource)
        if text is not None:
            texts.append(text)
            running += parse(text)
    total = max(peak, running)
    if own is not None:
        texts, total = [own], parse(own)
    overhead = at(spec, "overhead", resource)
    if overhead is not None and (kind == "requests" or total):
        texts.append(overhead)
        total += parse(overhead)
    if not texts:
        return None
    return render(total, "binary" if texts[0].endswith("i") else "decimal")


def _of_pod(pod: Object, name: str) -> str | int | None:
    if name.startswith("limits."):
        return pod_amount(pod, "limits", name.removeprefix("limits."))
    return pod_amount(pod, "requests", name.removeprefix("requests."))


def _of_service(service: Object, name: str) -> int | None:
    kind, ports = service["spec"].get("type"), len(service["spec"].get("ports") or ())
    allocates = service["spec"].get("allocateLoadBalancerNodePorts", True)
    match name:
        case "services.nodeports" if kind == "NodePort" or (kind == "LoadBalancer" and allocates):
            return ports
        case "services.nodeports" if kind == "LoadBalancer":
            return sum(bool(port.get("nodePort")) for port in service["spec"].get("ports") or ())
        case "services.loadbalancers" if kind == "LoadBalancer":
            return 1
    return None


def _of_claim(claim: Object, name: str) -> str | int | None:
    size: str | None = at(claim, "spec", "resources", "requests", "storage")
    if name == "requests.storage":
        return size
    wanted, _, what = name.partition(_CLASS_SUFFIX)
    if wanted != class_of(claim):
        return None
    return size if what == "requests.storage" else 1


_MEASURES: Final[dict[str, Callable[[Object, str], str | int | None]]] = {
    "pods": _of_pod,
    "services": _of_service,
    "persistentvolumeclaims": _of_claim,
}

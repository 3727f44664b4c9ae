"""What the scheduler needs of a pod, read once from its object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from aiopslab.cluster.api.objects import Object
from aiopslab.cluster.api.quantity import milli, whole

DEFAULT_CPU_M: Final = 100
DEFAULT_MEMORY_BYTES: Final = 200 * 1024 * 1024
"""What a container without requests counts for when nodes are scored."""

Amounts = dict[str, int]
"""Resources by name: cpu in thousandths, everything else whole."""


class HostPort(NamedTuple):
    """A port that a pod takes on its node."""

    address: str
    protocol: str
    port: int


class PodInfo:
    """A pod in the scheduler's words."""

    __slots__ = (
        "labels",
        "name",
        "namespace",
        "owner",
        "pod",
        "ports",
        "priority",
        "requests",
        "score_cpu_m",
        "score_memory_bytes",
        "spec",
        "uid",
    )

    def __init__(self, pod: Object) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        self.pod = pod
        self.spec: Object = spec
        self.uid: str = metadata["uid"]
        self.namespace: str = metadata["namespace"]
        self.name: str = metadata["name"]
        self.labels: Mapping[str, str] = metadata.get("labels") or {}
        owners = metadata.get("ownerReferences") or ()
        self.owner: str = owners[0]["uid"] if owners else ""
        self.priority: int = spec.get("priority") or 0
        self.requests = pod_requests(spec)
        defaulted = pod_requests(spec, defaults={"cpu": DEFAULT_CPU_M, "memory": DEFAULT_MEMORY_BYTES})
        self.score_cpu_m = defaulted["cpu"]
        self.score_memory_bytes = defaulted["memory"]
        self.ports = tuple(_host_ports(spec))

    @property
    def leaving(self) -> bool:
        """Whether the pod is being deleted."""
        return "deletionTimestamp" in self.pod["metadata"]


def amounts(told: Mapping[str, str] | None) -> Amounts:
    """Quantities as numbers."""
    return {name: milli(text) if name == "cpu" else whole(text) for name, text in (told or {}).items()}


def pod_requests(spec: Object, defaults: Amounts | None = None) -> Amounts:
    """What a pod asks for: its containers together, or its hungriest init step, and its overhead."""
    total: Amounts = {}
    for container in spec["containers"]:
        _add(total, _container_requests(container, defaults))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        asked = _container_requests(container, defaults)
        if container.get("restartPolicy") == "Always":
            _add(sidecars, asked)
            _raise(peak, sidecars)
        else:
            step = dict(sidecars)
            _add(step, asked)
            _raise(peak, step)
    _add(total, sidecars)
    _raise(total, peak)
    total.update(amounts((spec.get("resources") or {}).get("requests")))
    _add(total, amounts(spec.get("overhead")))
    return total


def _container_requests(container: Object, defaults: Amounts | None) -> Amounts:
    asked = amounts((container.get("resources") or {}).get("requests"))
    return {**defaults, **asked} if defaults else asked


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise(total: Amounts, least: Amounts) -> None:
    for name, amount in least.items():
        if amount > total.get(name, 0):
            total[name] = amount


def _host_ports(spec: Object) -> Iterable[HostPort]:
    containers = [*spec["containers"]]
    containers += [one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"]
    for container in containers:
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield HostPort(
                    port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"]
                )

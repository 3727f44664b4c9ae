"""The parts of a pod that the scheduler needs, parsed once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import ceil
from typing import Final, NamedTuple

from simcloud.kubernetes.api import amounts as api_amounts
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.quantity import milli, whole
from simcloud.kubernetes.scheduler.terms import company

UNSAID: Final = {
    "cpu": api_amounts.Amount(Fraction(1, 10)),
    "memory": api_amounts.Amount(Fraction(200 * 1024 * 1024)),
}
"""What a container without requests counts for when nodes are scored."""

Amounts = dict[str, int]
"""Resources by name: cpu in thousandths, everything else whole."""


Group = tuple[str, tuple[tuple[str, str], ...], bool]
"""What pods have in common that selectors ask for: namespace, labels, and whether they are being deleted."""


class HostPort(NamedTuple):
    """A port that a pod takes on its node."""

    address: str
    protocol: str
    port: int


class PodInfo:
    """A pod in the scheduler's words."""

    __slots__ = (
        "claims",
        "company",
        "group",
        "labels",
        "leaving",
        "name",
        "namespace",
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
        self.leaving = "deletionTimestamp" in metadata
        self.group: Group = (self.namespace, tuple(sorted(self.labels.items())), self.leaving)
        self.company = company(self.namespace, spec.get("affinity"))
        self.claims = tuple(_claims(self.name, spec))
        self.priority: int = spec.get("priority") or 0
        self.requests = pod_requests(spec)
        defaulted = pod_requests(spec, UNSAID)
        self.score_cpu_m = defaulted["cpu"]
        self.score_memory_bytes = defaulted["memory"]
        self.ports = tuple(_host_ports(spec))


def amounts(quantities: Mapping[str, str] | None) -> Amounts:
    """Quantities as numbers."""
    return {name: milli(text) if name == "cpu" else whole(text) for name, text in (quantities or {}).items()}


def pod_requests(spec: Object, unsaid: api_amounts.Amounts | None = None) -> Amounts:
    """What a pod asks for as a whole."""
    asked = api_amounts.pod_amounts(spec, "requests", unsaid)
    return {
        name: ceil(quantity.value * 1000) if name == "cpu" else ceil(quantity.value)
        for name, quantity in asked.items()
    }


def _claims(name: str, spec: Object) -> Iterable[str]:
    for volume in spec.get("volumes") or ():
        if volume.get("persistentVolumeClaim") is not None:
            yield volume["persistentVolumeClaim"]["claimName"]
        elif volume.get("ephemeral") is not None:
            yield f"{name}-{volume['name']}"


def _host_ports(spec: Object) -> Iterable[HostPort]:
    containers = [*spec["containers"]]
    containers += [
        init_container
        for init_container in spec.get("initContainers") or ()
        if init_container.get("restartPolicy") == "Always"
    ]
    for container in containers:
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield HostPort(
                    port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"]
                )

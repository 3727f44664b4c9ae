"""Endpoints: one object with the addresses of all pods for every Service with a selector.

Endpoints are superseded by EndpointSlices but still created, with the label that marks them as managed. At most 1,000
addresses are listed, ready ones first.
"""

from __future__ import annotations

from hashlib import md5
from typing import Final

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import NamespacedName, controller
from simcloud.kubernetes.controllers.endpoints.members import (
    HEADLESS,
    TRIGGER_TIME,
    ServiceController,
    addresses,
    find_port,
    hostname,
    is_headless,
    is_published,
    labels_of,
    target_reference,
)
from simcloud.kubernetes.controllers.pods import is_ready, namespace_is_leaving

MANAGED_BY: Final = "endpoints.kubernetes.io/managed-by"
OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"
MOST: Final = 1000


@controller("endpoint-controller")
class Endpoints(ServiceController):
    """Keeps the Endpoints of every Service with a selector."""

    def watch(self) -> None:
        super().watch()
        self.follow("endpoints", self._see_endpoints)

    def _see_endpoints(self, write: Revision) -> None:
        if write.change == "DELETED":
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        current = self.client.get("endpoints", *key)
        if self.client.get("services", *key) is None and current is not None:
            self.client.delete(current)
        service = self.find_managed(key)
        if service is None:
            return
        pods = self.members.pods(service)
        trigger = self.triggers.next(key, service, pods)
        whole = subsets(service, pods)
        limited = truncate(whole)
        labels = {**labels_of(service), MANAGED_BY: "endpoint-controller"}
        if is_headless(service):
            labels[HEADLESS] = ""
        if current is None:
            self._create(service, labels, limited, trigger, limited != whole)
        elif (current.get("subsets") or []) != limited or labels_of(current) != labels:
            changed: Object = copy(current)
            changed["metadata"]["labels"] = labels
            changed["metadata"]["annotations"] = _annotations(current, trigger, limited != whole)
            changed["subsets"] = limited
            self.client.update(changed)

    def _create(
        self, service: Object, labels: dict[str, str], limited: list[Object], trigger: str | None, over: bool
    ) -> None:
        name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
        made: Object = {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "subsets": limited,
        }
        made["metadata"]["annotations"] = _annotations(made, trigger, over)
        try:
            self.client.create(made)
        except ApiError as error:
            if namespace_is_leaving(error):
                return
            words = f"Failed to create endpoint for service {namespace}/{name}: {error.message}"
            self.recorder.event(made, "Warning", "FailedToCreateEndpoint", words)
            raise


def subsets(service: Object, pods: list[Object]) -> list[Object]:
    """What Endpoints tell of a Service's pods: one subset for each set of ports, in the genuine order."""
    early = bool(service["spec"].get("publishNotReadyAddresses"))
    family = (service["spec"].get("ipFamilies") or ["IPv4"])[0]
    by_ports: dict[str, tuple[list[Object], list[Object], list[Object]]] = {}
    for pod in pods:
        if not is_published(pod, early):
            continue
        found = addresses(pod, family)
        ports = _ports(service, pod)
        if not found or (not ports and service["spec"].get("ports")):
            continue
        if not ports and not is_headless(service):
            continue
        hashed = "".join(port_hash(port) for port in ports)
        _, ready, unready = by_ports.setdefault(hashed, (ports, [], []))
        (ready if early or is_ready(pod) else unready).append(_address(pod, service, found[0]))
    return [_subset(*by_ports[hashed]) for hashed in sorted(by_ports)]


def truncate(whole: list[Object]) -> list[Object]:
    """At most as many addresses as Endpoints may list; whole subsets keep theirs as far as it goes."""
    total = sum(len(subset.get(kind, ())) for subset in whole for kind in ("addresses", "notReadyAddresses"))
    if total <= MOST:
        return whole
    left, limited = MOST, [dict(subset) for subset in whole]
    for kind in ("addresses", "notReadyAddresses"):
        for subset in limited:
            if kind in subset:
                subset[kind] = subset[kind][:left]
                left -= len(subset[kind])
    return [
        {key: value for key, value in subset.items() if value}
        for subset in limited
        if subset.get("addresses") or subset.get("notReadyAddresses")
    ]


def port_hash(port: Object) -> str:
    """The order of ports and subsets: that of a digest of how Go prints a port."""
    protocol = port.get("appProtocol", "<nil>")
    text = (
        f"(v1.EndpointPort){{Name:(string){port.get('name', '')} Port:(int32){port['port']} "
        f"Protocol:(v1.Protocol){port['protocol']} AppProtocol:(*string){protocol}}}"
    )
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _ports(service: Object, pod: Object) -> list[Object]:
    ports = []
    for port in service["spec"].get("ports") or ():
        number = find_port(pod, port)
        if number is None:
            continue
        entry = {"name": port.get("name"), "port": number, "protocol": port.get("protocol", "TCP")}
        entry["appProtocol"] = port.get("appProtocol")
        ports.append({key: value for key, value in entry.items() if value})
    return sorted(ports, key=port_hash)


def _address(pod: Object, service: Object, ip: str) -> Object:
    fields = {
        "ip": ip,
        "hostname": hostname(pod, service),
        "nodeName": pod["spec"].get("nodeName"),
        "targetRef": target_reference(pod),
    }
    return {key: value for key, value in fields.items() if value}


def _subset(ports: list[Object], ready: list[Object], unready: list[Object]) -> Object:
    subset = {"addresses": _sort(ready), "notReadyAddresses": _sort(unready), "ports": ports}
    return {key: value for key, value in subset.items() if value}


def _sort(found: list[Object]) -> list[Object]:
    return sorted(found, key=lambda address: (address["ip"], address["targetRef"]["uid"]))


def _annotations(current: Object, trigger: str | None, over: bool) -> dict[str, str]:
    kept = dict(current["metadata"].get("annotations") or {})
    kept.pop(TRIGGER_TIME, None)
    kept.pop(OVER_CAPACITY, None)
    if trigger is not None:
        kept[TRIGGER_TIME] = trigger
    if over:
        kept[OVER_CAPACITY] = "truncated"
    return kept

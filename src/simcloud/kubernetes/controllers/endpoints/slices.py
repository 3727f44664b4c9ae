"""EndpointSlices: the addresses of a Service's pods, at most 100 per slice, by address family and ports.

A Service whose pods have no addresses yet has one empty slice. Slices are updated rather than recreated, so that
watchers see few changes.
"""

from __future__ import annotations

from functools import partial

from simcloud.kubernetes.api.errors import ApiError, NotFound
from simcloud.kubernetes.api.objects import Object
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
from simcloud.kubernetes.controllers.endpoints.slice_layout import (
    MANAGED_BY,
    SERVICE_NAME,
    Ports,
    SliceIndex,
    Slices,
    fill,
    new_slice,
    ports_key,
)
from simcloud.kubernetes.controllers.pods import is_leaving, is_ready, namespace_is_leaving

MANAGER = "endpointslice-controller.k8s.io"
ZONE = "topology.kubernetes.io/zone"
MOST = 100
RETRY_S = 1.0
"""A pod whose node is not there is looked at again after this time: one of them will come or go."""
_RESERVED = (HEADLESS, SERVICE_NAME, MANAGED_BY)


@controller("endpointslice-controller")
class EndpointSlices(ServiceController):
    """Keeps the slices of every Service with a selector."""

    slices: SliceIndex

    def watch(self) -> None:
        self.slices = SliceIndex(self.client, MANAGER, self._see_slice)
        super().watch()

    def _see_slice(self, write: Revision) -> None:
        if write.by != self.client.caller.user.name:
            self.queue.add(NamespacedName(write.key.namespace, labels_of(write.object)[SERVICE_NAME]))

    def sync(self, key: NamespacedName) -> None:
        service = self.find_managed(key)
        if service is None:
            return
        pods = self.members.pods(service)
        trigger = self.triggers.next(key, service, pods)
        families = list(service["spec"].get("ipFamilies") or ["IPv4"])
        existing = self.slices.of(key)
        plan = Slices()
        for family in families:
            plan.extend(
                self._family(service, pods, [s for s in existing if s["addressType"] == family], family)
            )
        plan.delete += [
            endpoint_slice for endpoint_slice in existing if endpoint_slice["addressType"] not in families
        ]
        self._carry_out(plan, trigger)

    def _family(self, service: Object, pods: list[Object], existing: list[Object], family: str) -> Slices:
        owned = [endpoint_slice for endpoint_slice in existing if _is_owned(endpoint_slice, service)]
        wanted = self._endpoints(service, pods, family)
        labels = slice_labels(service)
        plan = Slices()
        plan.delete += [endpoint_slice for endpoint_slice in existing if endpoint_slice not in owned]
        for ports, endpoints in wanted.values():
            mine = [
                endpoint_slice
                for endpoint_slice in owned
                if ports_key(endpoint_slice.get("ports")) == ports_key(ports)
            ]
            plan.extend(
                fill(mine, endpoints, labels, partial(new_slice, service, ports, family, labels), MOST)
            )
        plan.delete += [
            endpoint_slice for endpoint_slice in owned if ports_key(endpoint_slice.get("ports")) not in wanted
        ]
        if len(plan.delete) == len(existing) and not plan.create:
            empty = new_slice(service, [], family, labels)
            if len(plan.delete) == 1 and _is_empty(plan.delete[0], service, labels):
                plan.delete.clear()
            else:
                plan.create.append(empty)
        plan.reuse(service)
        return plan

    def _endpoints(
        self, service: Object, pods: list[Object], family: str
    ) -> dict[str, tuple[Ports, list[Object]]]:
        early = bool(service["spec"].get("publishNotReadyAddresses"))
        wanted: dict[str, tuple[Ports, list[Object]]] = {}
        key = NamespacedName(service["metadata"]["namespace"], service["metadata"]["name"])
        for pod in pods:
            if not is_published(pod, True):
                continue
            ports = _ports(service, pod)
            _, endpoints = wanted.setdefault(ports_key(ports), (ports, []))
            node = self.client.get("nodes", "", pod["spec"].get("nodeName", ""))
            if node is None and not early:
                self.queue.add_after(key, RETRY_S)
                continue
            found = addresses(pod, family)
            if found:
                endpoints.append(_endpoint(pod, node, service, found, early))
        return wanted

    def _carry_out(self, plan: Slices, trigger: str | None) -> None:
        try:
            for made in plan.create:
                self.client.create(_set_trigger(made, trigger))
        except ApiError as error:
            if namespace_is_leaving(error):
                return
            raise
        for changed in plan.update:
            self.client.update(_set_trigger(changed, trigger))
        for gone in plan.delete:
            try:
                self.client.delete(gone)
            except NotFound:
                continue


def slice_labels(service: Object) -> dict[str, str]:
    """The labels of a Service's slices: its own and those that say whose they are."""
    labels = {key: value for key, value in labels_of(service).items() if key not in _RESERVED}
    if is_headless(service):
        labels[HEADLESS] = ""
    labels[SERVICE_NAME] = service["metadata"]["name"]
    labels[MANAGED_BY] = MANAGER
    return labels


def _ports(service: Object, pod: Object) -> Ports:
    ports = []
    for port in service["spec"].get("ports") or ():
        number = find_port(pod, port)
        if number is not None:
            entry = {"name": port.get("name", ""), "port": number, "protocol": port.get("protocol", "TCP")}
            if port.get("appProtocol") is not None:
                entry["appProtocol"] = port["appProtocol"]
            ports.append(entry)
    return ports


def _endpoint(pod: Object, node: Object | None, service: Object, found: list[str], early: bool) -> Object:
    serving, terminating = is_ready(pod), is_leaving(pod)
    endpoint = {
        "addresses": found,
        "conditions": {
            "ready": early or (serving and not terminating),
            "serving": serving,
            "terminating": terminating,
        },
        "hostname": hostname(pod, service),
        "nodeName": pod["spec"].get("nodeName"),
        "targetRef": target_reference(pod),
        "zone": labels_of(node).get(ZONE) if node is not None else None,
    }
    return {key: value for key, value in endpoint.items() if value}


def _is_owned(found: Object, service: Object) -> bool:
    uid = service["metadata"]["uid"]
    return any(reference["uid"] == uid for reference in found["metadata"].get("ownerReferences") or ())


def _is_empty(found: Object, service: Object, labels: dict[str, str]) -> bool:
    holds = found.get("endpoints") or found.get("ports")
    return not holds and labels_of(found) == labels and _is_owned(found, service)


def _set_trigger(wanted: Object, trigger: str | None) -> Object:
    annotations = dict(wanted["metadata"].get("annotations") or {})
    annotations.pop(TRIGGER_TIME, None)
    if trigger is not None:
        annotations[TRIGGER_TIME] = trigger
    wanted["metadata"]["annotations"] = annotations
    return wanted

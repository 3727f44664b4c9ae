"""EndpointSlices that mirror Endpoints written by users, for Services without a selector.

At most 1,000 addresses of a subset are mirrored.
"""

from __future__ import annotations

from functools import partial

from simcloud.kubernetes.api.errors import ApiError, NotFound
from simcloud.kubernetes.api.objects import LAST_APPLIED, Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.controller import Controller, NamespacedName, controller
from simcloud.kubernetes.controllers.endpoints.members import TRIGGER_TIME, labels_of, selector_of
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
from simcloud.kubernetes.controllers.pods import namespace_is_leaving

MANAGER = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
MOST = 1000


@controller("endpointslicemirroring-controller")
class SliceMirroring(Controller):
    """Mirrors Endpoints of Services without selectors."""

    slices: SliceIndex

    def watch(self) -> None:
        self.slices = SliceIndex(self.client, MANAGER, self._see_slice)
        self.follow("endpoints", self.enqueue)
        self.follow("services", self._see_service)

    def _see_slice(self, write: Revision) -> None:
        if write.by != self.client.caller.user.name:
            self.queue.add(NamespacedName(write.key.namespace, labels_of(write.object)[SERVICE_NAME]))

    def _see_service(self, write: Revision) -> None:
        """Only a Service that comes, goes, or gains or loses its selector changes what is mirrored."""
        stays = write.before is not None and write.change == "MODIFIED"
        if not stays or bool(selector_of(write.before or write.object)) != bool(selector_of(write.object)):
            self.enqueue(write)

    def sync(self, key: NamespacedName) -> None:
        endpoints = self.client.get("endpoints", *key)
        service = self.client.get("services", *key)
        plan = Slices()
        existing = self.slices.of(key)
        if endpoints is None or service is None or selector_of(service) or not _is_mirrored(endpoints):
            plan.delete += existing
        else:
            plan = _plan(endpoints, existing)
        try:
            for made in plan.create:
                self.client.create(made)
        except ApiError as error:
            if namespace_is_leaving(error):
                return
            raise
        for changed in plan.update:
            self.client.update(changed)
        for gone in plan.delete:
            try:
                self.client.delete(gone)
            except NotFound:
                continue


def _is_mirrored(endpoints: Object) -> bool:
    annotations = endpoints["metadata"].get("annotations") or {}
    return LEADER not in annotations and labels_of(endpoints).get(SKIP) != "true"


def _plan(endpoints: Object, existing: list[Object]) -> Slices:
    name = endpoints["metadata"]["name"]
    labels = {**labels_of(endpoints), SERVICE_NAME: name, MANAGED_BY: MANAGER}
    wanted: dict[tuple[str, str], tuple[Ports, list[Object]]] = {}
    for subset in endpoints.get("subsets") or ():
        ports = [{"name": "", **port} for port in subset.get("ports") or ()]
        for endpoint in _of_subset(subset):
            family = "IPv6" if ":" in endpoint["addresses"][0] else "IPv4"
            wanted.setdefault((family, ports_key(ports)), (ports, []))[1].append(endpoint)
    plan = Slices()
    for (family, hashed), (ports, found) in wanted.items():
        mine = [endpoint_slice for endpoint_slice in existing if _place(endpoint_slice) == (family, hashed)]
        plan.extend(fill(mine, found, labels, partial(new_slice, endpoints, ports, family, labels), MOST))
    plan.delete += [endpoint_slice for endpoint_slice in existing if _place(endpoint_slice) not in wanted]
    annotations = _annotations(endpoints)
    for endpoint_slice in (*plan.create, *plan.update):
        endpoint_slice["metadata"]["annotations"] = dict(annotations)
    return plan


def _of_subset(subset: Object) -> list[Object]:
    endpoints = [
        _endpoint(address, ready)
        for kind, ready in (("addresses", True), ("notReadyAddresses", False))
        for address in subset.get(kind) or ()
    ]
    return endpoints[:MOST]


def _endpoint(address: Object, ready: bool) -> Object:
    endpoint: Object = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    for key in ("hostname", "nodeName", "targetRef"):
        if address.get(key):
            endpoint[key] = address[key]
    return endpoint


def _place(found: Object) -> tuple[str, str]:
    return found["addressType"], ports_key(found.get("ports"))


def _annotations(endpoints: Object) -> dict[str, str]:
    kept = dict(endpoints["metadata"].get("annotations") or {})
    kept.pop(TRIGGER_TIME, None)
    kept.pop(LAST_APPLIED, None)
    return kept

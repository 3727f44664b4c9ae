"""Distribution of endpoints over slices with the fewest writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from msgspec import Struct, field

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import NamespacedName, owner_reference

SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"

Ports: TypeAlias = list[Object]


class SliceIndex:
    """The slices that one controller manages, by their Service."""

    def __init__(self, client: ComponentClient, manager: str, handler: Callable[[Revision], None]) -> None:
        self._manager = manager
        self._handler = handler
        self._slices: dict[NamespacedName, dict[str, Object]] = {}
        client.follow("endpointslices.discovery.k8s.io", self._see)

    def of(self, key: NamespacedName) -> list[Object]:
        """A Service's slices, by name."""
        found = self._slices.get(key, {})
        return [found[name] for name in sorted(found)]

    def _see(self, write: Revision) -> None:
        before, after = self._service(write.before), self._service(write.object)
        if before is not None:
            self._slices[before].pop(write.key.name, None)
            if not self._slices[before]:
                del self._slices[before]
        if after is not None and write.change != "DELETED":
            self._slices.setdefault(after, {})[write.key.name] = write.object
        if after is not None:
            self._handler(write)

    def _service(self, found: Object | None) -> NamespacedName | None:
        labels = (found["metadata"].get("labels") or {}) if found is not None else {}
        if found is None or labels.get(MANAGED_BY) != self._manager or not labels.get(SERVICE_NAME):
            return None
        return NamespacedName(found["metadata"]["namespace"], labels[SERVICE_NAME])


class Slices(Struct):
    """Slices to make, to write and to delete. Those to make and to write may be changed still."""

    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)

    def extend(self, other: Slices) -> None:
        """Take over what another plan says."""
        self.create += other.create
        self.update += other.update
        self.delete += other.delete

    def reuse(self, owner: Object) -> None:
        """Write new slices over those that would go, as far as they are the owner's."""
        reference = owner_reference(owner)
        for gone in list(self.delete):
            if not self.create:
                return
            if not any(
                other["uid"] == reference["uid"] for other in gone["metadata"].get("ownerReferences") or ()
            ):
                continue
            made, changed = self.create.pop(0), copy(gone)
            changed["metadata"]["labels"] = made["metadata"]["labels"]
            changed["endpoints"], changed["ports"] = made["endpoints"], made["ports"]
            self.delete.remove(gone)
            self.update.append(changed)


def ports_key(ports: Ports | None) -> str:
    """What tells one set of ports from another, in whatever order."""
    return repr(sorted(sorted((key, str(value)) for key, value in port.items()) for port in ports or ()))


def fill(
    existing: list[Object],
    wanted: list[Object],
    labels: dict[str, str],
    new: Callable[[], Object],
    most: int,
) -> Slices:
    """Bring the slices of one set of ports to hold the wanted endpoints."""
    missing = {_identity(endpoint): endpoint for endpoint in wanted}
    plan = Slices()
    unchanged = []
    for found in existing:
        kept = [
            missing.pop(_identity(endpoint))
            for endpoint in found.get("endpoints") or ()
            if _identity(endpoint) in missing
        ]
        if kept == (found.get("endpoints") or []) and (found["metadata"].get("labels") or {}) == labels:
            unchanged.append(found)
        elif kept or not found.get("endpoints"):
            plan.update.append(_change(found, kept, labels))
        else:
            plan.delete.append(found)
    rest = list(missing.values())
    for changed in sorted(plan.update, key=lambda endpoint_slice: -len(endpoint_slice["endpoints"])):
        room = most - len(changed["endpoints"])
        changed["endpoints"] += rest[:room]
        rest = rest[room:]
    while rest:
        target = None
        if len(rest) < most:
            target = _fitting(unchanged, len(rest), most)
        if target is not None:
            unchanged.remove(target)
            plan.update.append(_change(target, [*(target.get("endpoints") or ()), *rest], labels))
            break
        made = new()
        made["endpoints"] = rest[:most]
        plan.create.append(made)
        rest = rest[most:]
    return plan


def _fitting(found: list[Object], count: int, most: int) -> Object | None:
    """The fullest slice that has room for ``count`` more endpoints, if there is one."""
    sized = [
        (most - count - len(endpoint_slice.get("endpoints") or ()), endpoint_slice)
        for endpoint_slice in found
    ]
    fits = [pair for pair in sized if pair[0] >= 0]
    return min(fits, key=lambda pair: pair[0])[1] if fits else None


def _change(found: Object, endpoints: list[Object], labels: dict[str, str]) -> Object:
    changed: Object = copy(found)
    changed["endpoints"] = copy(endpoints)
    changed["metadata"]["labels"] = dict(labels)
    return changed


def _identity(endpoint: Object) -> tuple[object, ...]:
    target = endpoint.get("targetRef") or {}
    return (
        tuple(endpoint["addresses"]),
        endpoint.get("hostname"),
        endpoint.get("nodeName"),
        target.get("namespace"),
        target.get("name"),
        target.get("uid"),
    )


def new_slice(owner: Object, ports: Ports, family: str, labels: dict[str, str]) -> Object:
    """An empty slice that belongs to a Service, or to hand-made Endpoints."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "generateName": f"{owner['metadata']['name']}-",
            "namespace": owner["metadata"]["namespace"],
            "labels": dict(labels),
            "ownerReferences": [owner_reference(owner)],
        },
        "addressType": family,
        "endpoints": [],
        "ports": copy(ports),
    }

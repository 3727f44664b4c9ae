"""The volumes of a pod's claims on a node: already bound, to be bound, or to be provisioned.

A plan is made for every checked node and carried out for the selected one: volumes are reserved for their claims,
claims that need a new volume are annotated with the node, and the volume controller and provisioners do the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.api.quantity import parse
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controllers.volumes.binder import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    annotations_of,
    claim_reference,
)
from simcloud.kubernetes.controllers.volumes.selection import class_of, fits, is_bound_to, size_of
from simcloud.kubernetes.placement import meets_term
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.node_info import NodeInfo

CLASSES: Final = "storageclasses.storage.k8s.io"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"

UNREACHABLE: Final = "node(s) had volume node affinity conflict"
NONE_FOUND: Final = "node(s) didn't find available persistent volumes to bind"
VOLUME_MISSING: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class Plan(Struct, frozen=True):
    """What binds a pod's claims on a node, or why nothing does."""

    bindings: tuple[tuple[Object, Object], ...] = ()
    provisions: tuple[Object, ...] = ()
    reasons: tuple[str, ...] = ()

    def is_done(self, client: ComponentClient) -> bool:
        """Whether all its claims are bound."""
        claims = (*(claim for claim, _ in self.bindings), *self.provisions)
        current = [client.refresh(claim) for claim in claims]
        return all(claim is not None and is_bound(claim) for claim in current)


def is_bound(claim: Object) -> bool:
    """Whether a claim is bound for good."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(claim)


def waits(claim: Object, client: ComponentClient) -> bool:
    """Whether a claim waits for its first consumer."""
    mode = at(client.get(CLASSES, "", class_of(claim)), "volumeBindingMode")
    return bool(mode == "WaitForFirstConsumer")


def plan(claims: Sequence[Object], node: NodeInfo, cache: Cache) -> Plan:
    """How a node would serve claims."""
    reasons = []
    bound = [claim for claim in claims if is_bound(claim)]
    volumes = [cache.client.get("persistentvolumes", "", claim["spec"]["volumeName"]) for claim in bound]
    present = [volume for volume in volumes if volume is not None]
    if not all(_reaches(volume, node) for volume in present):
        reasons.append(UNREACHABLE)
    bindings, provisions, problem = _unbound([claim for claim in claims if not is_bound(claim)], node, cache)
    if problem:
        reasons.append(problem)
    if len(present) < len(volumes):
        reasons.append(VOLUME_MISSING)
    return Plan(tuple(bindings), tuple(provisions), tuple(reasons))


def carry_out(planned: Plan, node: str, client: ComponentClient) -> None:
    """Reserve volumes for their claims, and tell claims without one their node. Raises ApiError."""
    for claim, volume in planned.bindings:
        if at(volume, "spec", "claimRef", "uid") == claim["metadata"]["uid"]:
            continue
        change: Object = {"spec": {"claimRef": claim_reference(claim)}}
        if volume["spec"].get("claimRef") is None:
            change["metadata"] = {"annotations": {BOUND_BY_CONTROLLER: "yes"}}
        client.patch(volume, change)
    for claim in planned.provisions:
        client.patch(claim, {"metadata": {"annotations": {SELECTED_NODE: node}}})


def undone(planned: Plan, node: NodeInfo, client: ComponentClient) -> str:
    """What went wrong with a plan that is being carried out; empty if nothing did."""
    for _, volume in planned.bindings:
        current, name = client.refresh(volume), volume["metadata"]["name"]
        if current is None:
            return f'failed to check binding: could not find v1.PersistentVolume "{name}"'
        if not at(current, "spec", "claimRef", "uid"):
            return f'ClaimRef got reset for pv "{name}"'
    for claim in planned.provisions:
        current, name = client.refresh(claim), claim["metadata"]["name"]
        if current is None:
            key = f"{claim['metadata']['namespace']}/{name}"
            return f'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "{key}"'
        if annotations_of(current).get(SELECTED_NODE) != node.name:
            return f'provisioning failed for PVC "{name}"'
        volume_name = current["spec"].get("volumeName")
        made = client.get("persistentvolumes", "", volume_name) if volume_name else None
        if made is not None and not _reaches(made, node):
            return f'pv "{volume_name}" node affinity doesn\'t match node "{node.name}": no matching NodeSelectorTerms'
    return ""


def _unbound(
    claims: Sequence[Object], node: NodeInfo, cache: Cache
) -> tuple[list[tuple[Object, Object]], list[Object], str]:
    bindings: list[tuple[Object, Object]] = []
    provisions: list[Object] = []
    taken: dict[str, None] = {}
    for claim in sorted(claims, key=_size):
        selected = annotations_of(claim).get(SELECTED_NODE)
        if selected is not None and selected != node.name:
            return [], [], NONE_FOUND
        volume = _match(claim, node, cache, taken) if selected is None else None
        if volume is None:
            provisions.append(claim)
        else:
            taken[volume["metadata"]["name"]] = None
            bindings.append((claim, volume))
    for claim in provisions:
        problem = _provision_problem(claim, node, cache.client)
        if problem:
            return [], [], problem
    return bindings, provisions, ""


def _match(claim: Object, node: NodeInfo, cache: Cache, taken: Mapping[str, None]) -> Object | None:
    """The volume reserved for a claim, or the smallest free one that the node reaches."""
    found = [
        volume
        for volume in cache.volumes.candidates(claim)
        if volume["metadata"]["name"] not in taken and fits(volume, claim)
    ]
    reserved = [volume for volume in found if is_bound_to(volume, claim)]
    if reserved:
        return reserved[0] if _reaches(reserved[0], node) else None
    free = [
        volume for volume in found if at(volume, "status", "phase") == "Available" and _reaches(volume, node)
    ]
    return min(free, key=lambda volume: (size_of(volume), volume["metadata"]["name"]), default=None)


def _provision_problem(claim: Object, node: NodeInfo, client: ComponentClient) -> str:
    storage_class = client.get(CLASSES, "", class_of(claim))
    if storage_class is None or storage_class.get("provisioner") in (None, "", NO_PROVISIONER):
        return NONE_FOUND
    topologies = storage_class.get("allowedTopologies") or ()
    if topologies and not any(_in_topology(topology, node) for topology in topologies):
        return NONE_FOUND
    return ""


def _in_topology(term: Object, node: NodeInfo) -> bool:
    wanted = term.get("matchLabelExpressions") or ()
    return all(node.labels.get(requirement["key"]) in requirement["values"] for requirement in wanted)


def _reaches(volume: Object, node: NodeInfo) -> bool:
    terms = at(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms")
    return not terms or any(meets_term(term, node.name, node.labels) for term in terms)


def _size(claim: Object) -> float:
    return float(parse(at(claim, "spec", "resources", "requests", "storage", default="0")))

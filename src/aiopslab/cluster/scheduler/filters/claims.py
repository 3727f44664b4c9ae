"""VolumeBinding, of claims that are bound or must be: they exist, are bound, and their volume reaches the node.

Claims that wait for their first consumer are given the chosen node's name by ``Scheduler``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from aiopslab.cluster.api.objects import Object, at
from aiopslab.cluster.scheduler.filters.affinity import matches_term
from aiopslab.cluster.scheduler.framework import Check, Refused, Rejection, View
from aiopslab.cluster.scheduler.node_info import NodeInfo
from aiopslab.cluster.scheduler.pod_info import PodInfo

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_NAME: Final = "VolumeBinding"
_CONFLICT: Final = Rejection(_NAME, ("node(s) had volume node affinity conflict",), final=True)
_NO_VOLUME: Final = Rejection(
    _NAME, ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",), final=True
)
_ELSEWHERE: Final = Rejection(
    _NAME, ("node(s) didn't find available persistent volumes to bind",), final=True
)


def prepare(pod: PodInfo, view: View) -> Check | None:
    """Nothing to check for pods without claims."""
    claims = list(_claims(pod, view))
    if not claims:
        return None
    for claim in claims:
        if not claim["spec"].get("volumeName") and not waits(claim, view):
            raise Refused(_NAME, "pod has unbound immediate PersistentVolumeClaims")

    def check(node: NodeInfo) -> Rejection | None:
        for claim in claims:
            rejection = _reaches(claim, node, view)
            if rejection is not None:
                return rejection
        return None

    return check


def unbound(pod: PodInfo, view: View) -> list[Object]:
    """The pod's claims that have no volume yet."""
    return [claim for claim in _claims(pod, view) if not claim["spec"].get("volumeName")]


def waits(claim: Object, view: View) -> bool:
    """Whether a claim waits for its first consumer."""
    found = view.client.get("storageclasses.storage.k8s.io", "", claim["spec"].get("storageClassName") or "")
    return found is not None and found.get("volumeBindingMode") == "WaitForFirstConsumer"


def _claims(pod: PodInfo, view: View) -> Iterator[Object]:
    for volume in pod.spec.get("volumes") or ():
        source = volume.get("persistentVolumeClaim")
        if source is not None:
            yield _claim(pod, source["claimName"], view, ephemeral=False)
        elif volume.get("ephemeral") is not None:
            yield _claim(pod, f"{pod.name}-{volume['name']}", view, ephemeral=True)


def _claim(pod: PodInfo, name: str, view: View, ephemeral: bool) -> Object:
    claim = view.client.get("persistentvolumeclaims", pod.namespace, name)
    if claim is None and ephemeral:
        waiting = "waiting for ephemeral volume controller to create the persistentvolumeclaim"
        raise Refused(_NAME, f'{waiting} "{name}"')
    if claim is None:
        raise Refused(_NAME, f'persistentvolumeclaim "{name}" not found')
    if at(claim, "status", "phase") == "Lost":
        volume = claim["spec"].get("volumeName", "")
        lost = f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
        raise Refused(_NAME, lost)
    if "deletionTimestamp" in claim["metadata"]:
        raise Refused(_NAME, f'persistentvolumeclaim "{name}" is being deleted')
    return claim


def _reaches(claim: Object, node: NodeInfo, view: View) -> Rejection | None:
    name = claim["spec"].get("volumeName")
    if not name:
        selected = (claim["metadata"].get("annotations") or {}).get(SELECTED_NODE)
        return _ELSEWHERE if selected and selected != node.name else None
    volume = view.client.get("persistentvolumes", "", name)
    if volume is None:
        return _NO_VOLUME
    terms = at(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms")
    if terms and not any(matches_term(term, node) for term in terms):
        return _CONFLICT
    return None

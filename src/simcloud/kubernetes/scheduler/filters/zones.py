"""VolumeZone: a volume with zone labels is used in these zones only."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Refused, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "VolumeZone"
_ELSEWHERE: Final = Rejection(NAME, ("node(s) had no available volume zone",), final=True)
_LABELS: Final = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
"""The labels of zones and regions, and their present names."""


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods whose volumes have no zone."""
    places = [place for name in _volumes(pod, cache) for place in _places(name, cache)]
    if not places:
        return None

    def check(node: NodeInfo) -> Rejection | None:
        labels = node.labels
        if not any(key in labels for key in _LABELS):
            return None
        for key, zones in places:
            if labels.get(key, labels.get(_LABELS[key])) not in zones:
                return _ELSEWHERE
        return None

    return check


def _volumes(pod: PodInfo, cache: Cache) -> list[str]:
    """The volumes of claims that the pod names itself."""
    sources = [volume.get("persistentVolumeClaim") for volume in pod.spec.get("volumes") or ()]
    claims = [
        cache.client.get("persistentvolumeclaims", pod.namespace, source["claimName"])
        for source in sources
        if source
    ]
    return [
        claim["spec"]["volumeName"]
        for claim in claims
        if claim is not None and claim["spec"].get("volumeName")
    ]


def _places(name: str, cache: Cache) -> list[tuple[str, list[str]]]:
    volume = cache.client.get("persistentvolumes", "", name)
    if volume is None:
        raise Refused(NAME, f'persistentvolume "{name}" not found')
    labels = volume["metadata"].get("labels") or {}
    return [(key, labels[key].split("__")) for key in _LABELS if key in labels]

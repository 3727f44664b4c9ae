"""NodeVolumeLimits: so many volumes of a driver can be attached to a node as its CSINode says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.kubernetes.api.objects import at
from simcloud.kubernetes.controllers.volumes.selection import class_of
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.volumes import CLASSES

NAME: Final = "NodeVolumeLimits"
_TOO_MANY: Final = Rejection(NAME, ("node(s) exceed max volume count",))


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """Nothing to check for pods without attachable volumes."""
    wanted = dict.fromkeys(_attachable(pod, cache)) if pod.claims else {}
    if not wanted:
        return None

    def check(node: NodeInfo) -> Rejection | None:
        described = cache.client.get("csinodes.storage.k8s.io", "", node.name)
        limits = {
            one["name"]: one["allocatable"]["count"]
            for one in at(described, "spec", "drivers", default=())
            if at(one, "allocatable", "count") is not None
        }
        if not any(driver in limits for driver, _ in wanted):
            return None
        there = dict.fromkeys(
            volume for one in node.pods.values() if one.claims for volume in _attachable(one, cache)
        )
        for driver, limit in limits.items():
            new = sum(one[0] == driver and one not in there for one in wanted)
            if new and new + sum(one[0] == driver for one in there) > limit:
                return _TOO_MANY
        return None

    return check


def _attachable(pod: PodInfo, cache: Cache) -> Iterator[tuple[str, str]]:
    """Driver and handle of each of a pod's volumes; one that is still to be made has its claim's name."""
    for name in pod.claims:
        claim = cache.client.get("persistentvolumeclaims", pod.namespace, name)
        if claim is None:
            continue
        volume = cache.client.get("persistentvolumes", "", claim["spec"].get("volumeName") or "")
        if volume is not None:
            source = volume["spec"].get("csi")
            if source is not None:
                yield source["driver"], source["volumeHandle"]
            continue
        storage_class = cache.client.get(CLASSES, "", class_of(claim))
        if storage_class is not None:
            yield storage_class["provisioner"], f"{pod.namespace}/{name}"

"""VolumeRestrictions: a ReadWriteOncePod claim is used by one pod only."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "VolumeRestrictions"
_IN_USE: Final = Rejection(
    NAME,
    ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",),
)


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods whose claims may be shared."""
    users = [
        user
        for claim in exclusive(pod, cache)
        for user in cache.claim_users(pod.namespace, claim)
        if user != pod.uid
    ]
    if not users:
        return None

    def check(node: NodeInfo) -> Rejection | None:
        gone = [placed.uid for sign, placed in node.trial_pods() if sign < 0]
        return _IN_USE if any(user not in gone for user in users) else None

    return check


def exclusive(pod: PodInfo, cache: Cache) -> list[str]:
    """The names of the pod's claims that only one pod may use."""
    found = ((name, cache.client.get("persistentvolumeclaims", pod.namespace, name)) for name in pod.claims)
    return [
        name
        for name, claim in found
        if claim is not None and "ReadWriteOncePod" in (claim["spec"].get("accessModes") or ())
    ]

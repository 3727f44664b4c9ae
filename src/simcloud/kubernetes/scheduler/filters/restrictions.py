"""VolumeRestrictions: a claim for one pod only is used by one, and a disk is not mounted twice on a node."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "VolumeRestrictions"
_IN_USE: Final = Rejection(
    NAME,
    ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",),
)
_NO_DISK: Final = Rejection(NAME, ("node(s) had no available disk",))
_DISKS: Final = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """Nothing to check for pods whose volumes may be shared."""
    volumes: list[Object] = pod.spec.get("volumes") or []
    disks = [one for one in volumes if any(kind in one for kind in _DISKS)]
    users = [
        user
        for claim in exclusive(pod, cache)
        for user in cache.claim_users(pod.namespace, claim)
        if user != pod.uid
    ]
    if not disks and not users:
        return None

    def check(node: NodeInfo) -> Rejection | None:
        if disks and any(
            _conflict(disk, other)
            for one in node.pods.values()
            for other in one.spec.get("volumes") or ()
            for disk in disks
        ):
            return _NO_DISK
        gone = [one.uid for sign, one in node.tried() if sign < 0]
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


def _conflict(one: Object, other: Object) -> bool:
    for kind in _DISKS:
        mine, theirs = one.get(kind), other.get(kind)
        if mine is None or theirs is None or not _same_disk(kind, mine, theirs):
            continue
        if kind == "awsElasticBlockStore" or not (mine.get("readOnly") and theirs.get("readOnly")):
            return True
    return False


def _same_disk(kind: str, one: Object, other: Object) -> bool:
    match kind:
        case "gcePersistentDisk":
            return bool(one["pdName"] == other["pdName"])
        case "awsElasticBlockStore":
            return bool(one["volumeID"] == other["volumeID"])
        case "iscsi":
            return bool(one["iqn"] == other["iqn"])
    shared = any(monitor in other["monitors"] for monitor in one["monitors"])
    return shared and (one.get("pool"), one["image"]) == (other.get("pool"), other["image"])

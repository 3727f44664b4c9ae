"""VolumeBinding: a pod's claims exist, and their volumes are available on the node or can be provisioned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Refused, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo
from simcloud.kubernetes.scheduler.volumes import is_bound, plan, waits

NAME: Final = "VolumeBinding"


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods without claims."""
    if not pod.claims:
        return None
    claims = list(of_pod(pod, cache))
    for claim in claims:
        if not is_bound(claim) and (claim["spec"].get("volumeName") or not waits(claim, cache.client)):
            raise Refused(NAME, "pod has unbound immediate PersistentVolumeClaims")

    def check(node: NodeInfo) -> Rejection | None:
        reasons = plan(claims, node, cache).reasons
        return Rejection(NAME, reasons, final=True) if reasons else None

    return check


def of_pod(pod: PodInfo, cache: Cache) -> Iterator[Object]:
    """The claims of a pod's volumes; refuses a pod whose claims are not all there."""
    for volume in pod.spec.get("volumes") or ():
        source = volume.get("persistentVolumeClaim")
        if source is not None:
            yield _claim(pod, source["claimName"], cache, ephemeral=False)
        elif volume.get("ephemeral") is not None:
            yield _claim(pod, f"{pod.name}-{volume['name']}", cache, ephemeral=True)


def _claim(pod: PodInfo, name: str, cache: Cache, ephemeral: bool) -> Object:
    claim = cache.client.get("persistentvolumeclaims", pod.namespace, name)
    if claim is None and ephemeral:
        waiting = "waiting for ephemeral volume controller to create the persistentvolumeclaim"
        raise Refused(NAME, f'{waiting} "{name}"')
    if claim is None:
        raise Refused(NAME, f'persistentvolumeclaim "{name}" not found')
    if at(claim, "status", "phase") == "Lost":
        volume = claim["spec"].get("volumeName", "")
        raise Refused(
            NAME, f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"'
        )
    if "deletionTimestamp" in claim["metadata"]:
        raise Refused(NAME, f'persistentvolumeclaim "{name}" is being deleted')
    owners = claim["metadata"].get("ownerReferences") or ()
    if ephemeral and not any(
        reference["uid"] == pod.uid and reference.get("controller") for reference in owners
    ):
        key = f"{pod.namespace}/{name}"
        owner = f"{pod.namespace}/{pod.name}"
        raise Refused(NAME, f"PVC {key} was not created for pod {owner} (pod is not owner)")
    return claim

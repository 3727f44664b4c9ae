"""ImageLocality: prefers nodes that already have the pod's images, by size and spread of the images.

Names are compared literally: ``busybox:1.36`` is not found under ``docker.io/library/busybox:1.36``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

_MIB: Final = 1024 * 1024
_LEAST_BYTES: Final = 23 * _MIB
_MOST_BYTES: Final = 1000 * _MIB
"""For each image of the pod."""


def locality(pod: PodInfo, nodes: Sequence[NodeInfo], cache: Cache) -> list[int] | None:
    """None when no node has any of the images."""
    images = [_add_tag(name) for name in _images(pod.spec)]
    if not any(cache.image_holders.get(name) for name in images):
        return None
    most, total = _MOST_BYTES * len(images), len(cache.nodes())
    return [_score(images, node, cache, most, total) for node in nodes]


def _score(images: Sequence[str], node: NodeInfo, cache: Cache, most: int, total: int) -> int:
    held = sum(
        int(node.images[name] * (cache.image_holders[name] / total)) for name in images if name in node.images
    )
    return 100 * (min(max(held, _LEAST_BYTES), most) - _LEAST_BYTES) // (most - _LEAST_BYTES)


def _images(spec: Object) -> Iterator[str]:
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        yield container.get("image") or ""
    for volume in spec.get("volumes") or ():
        if volume.get("image") is not None:
            yield volume["image"].get("reference") or ""


def _add_tag(name: str) -> str:
    return f"{name}:latest" if name.rfind(":") <= name.rfind("/") else name

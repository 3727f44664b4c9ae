"""NodePorts: a host port can be used once per node."""

from __future__ import annotations

from typing import Final

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.framework import Check, Rejection
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo

NAME: Final = "NodePorts"
_TAKEN: Final = Rejection(NAME, ("node(s) didn't have free ports for the requested pod ports",))


def prepare(pod: PodInfo, cache: Cache) -> Check | None:
    """None for pods without host ports."""
    if not pod.ports:
        return None

    def check(node: NodeInfo) -> Rejection | None:
        return _TAKEN if any(node.takes(port) for port in pod.ports) else None

    return check

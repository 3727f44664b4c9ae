"""The interface of filters.

``prepare(pod, cache)`` returns a check of nodes, or None when the filter does not concern this pod; it raises
``Refused`` when no node can be suitable. A check returns None for a suitable node, otherwise a ``Rejection``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from simcloud.kubernetes.scheduler.cache import Cache
from simcloud.kubernetes.scheduler.node_info import NodeInfo
from simcloud.kubernetes.scheduler.pod_info import PodInfo


class Rejection(Struct, frozen=True):
    """Why a node will not do. A final one stays whatever pods leave the node."""

    plugin: str
    reasons: tuple[str, ...]
    final: bool = False


class Refused(Exception):
    """No node at all will do, whatever else happens on them."""

    def __init__(self, plugin: str, reason: str) -> None:
        super().__init__(reason)
        self.plugin = plugin
        self.reason = reason


Check: TypeAlias = Callable[[NodeInfo], Rejection | None]
Prepare: TypeAlias = Callable[[PodInfo, Cache], Check | None]

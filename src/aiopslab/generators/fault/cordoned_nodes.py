"""All workers are cordoned, so no new pod can be scheduled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aiopslab.generators.fault.base import fault
from aiopslab.generators.fault.blocked_pods import ClosedNodes
from aiopslab.generators.site import Site
from simcloud.kubernetes.api import Object, at


@fault
@dataclass(frozen=True)
class CordonedNodes(ClosedNodes):
    """An operator cordons the workers for maintenance, one after the other, and forgets to uncordon them."""

    name: ClassVar[str] = "cordoned_nodes"

    def release(self, site: Site) -> None:
        """Cordon the workers."""
        site.run(f"kubectl cordon {' '.join(site.list_workers())}")

    def recover(self, site: Site) -> None:
        """Uncordon the workers."""
        site.run(f"kubectl uncordon {' '.join(site.list_workers())}")

    def is_closed(self, node: Object | None) -> bool:
        """Return whether a node is missing or cordoned."""
        return node is None or bool(at(node, "spec", "unschedulable", default=False))

"""The pods of each node."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient


class NodePods:
    """All pods by the node that they are bound to."""

    def __init__(self, client: ComponentClient) -> None:
        self._pods: dict[str, dict[tuple[str, str], Object]] = {}
        client.follow("pods", self._see)

    def on(self, node: str) -> list[Object]:
        """The pods of a node, by namespace and name."""
        found = self._pods.get(node, {})
        return [found[place] for place in sorted(found)]

    def _see(self, write: Revision) -> None:
        place = (write.key.namespace, write.key.name)
        node = write.object["spec"].get("nodeName", "")
        if write.change != "DELETED" and node:
            self._pods.setdefault(node, {})[place] = write.object
        elif node:
            self._pods.get(node, {}).pop(place, None)

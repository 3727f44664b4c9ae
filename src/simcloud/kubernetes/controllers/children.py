"""Indexes that controllers keep: the objects of a resource by their managing owner, and the pods of each node.

A controller only looks at its own children and at the orphans of a namespace, independent of the number of other
objects. Adoption and release follow Kubernetes' rules: a child that no longer matches the selector is released, an
orphan that matches is adopted, and a controller that is being deleted does neither.
"""

from __future__ import annotations

from collections.abc import Callable

from simcloud.kubernetes.api.errors import Invalid, NotFound
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.selectors import LabelSelector
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import controller_of, owner_reference


def everything(_: Object) -> bool:
    """No condition."""
    return True


class Children:
    """All objects of a resource, by the uid of their managing owner; those without one, by namespace."""

    def __init__(self, client: ComponentClient, name: str) -> None:
        self._client = client
        self._owned: dict[str, dict[str, Object]] = {}
        self._orphans: dict[str, dict[str, Object]] = {}
        client.follow(name, self._see)

    def of(self, owner: Object) -> list[Object]:
        """What an owner manages, in the order in which it came to it."""
        return list(self._owned.get(owner["metadata"]["uid"], {}).values())

    def orphans(self, namespace: str) -> list[Object]:
        """What nobody manages."""
        return list(self._orphans.get(namespace, {}).values())

    def claim(
        self,
        owner: Object,
        selector: LabelSelector,
        eligible: Callable[[Object], bool] = everything,
        member: Callable[[Object], bool] = everything,
    ) -> list[Object]:
        """The children that an owner keeps and takes in, among the eligible; the others are let go."""
        leaving = "deletionTimestamp" in owner["metadata"]
        kept = []
        for child in self.of(owner):
            if not eligible(child):
                continue
            if selector.matches(child["metadata"].get("labels")) and member(child):
                kept.append(child)
            elif not leaving:
                self._release(owner, child)
        if not leaving:
            for orphan in self.orphans(owner["metadata"].get("namespace", "")):
                if eligible(orphan) and selector.matches(orphan["metadata"].get("labels")) and member(orphan):
                    adopted = self._adopt(owner, orphan)
                    if adopted is not None:
                        kept.append(adopted)
        return kept

    def _adopt(self, owner: Object, orphan: Object) -> Object | None:
        metadata = orphan["metadata"]
        if "deletionTimestamp" in metadata:
            return None
        wish = {"metadata": {"ownerReferences": [owner_reference(owner)], "uid": metadata["uid"]}}
        try:
            return self._client.patch(orphan, wish)
        except NotFound:
            return None

    def _release(self, owner: Object, child: Object) -> None:
        metadata = child["metadata"]
        if "deletionTimestamp" in metadata:
            return
        gone = {"$patch": "delete", "uid": owner["metadata"]["uid"]}
        try:
            self._client.patch(child, {"metadata": {"ownerReferences": [gone], "uid": metadata["uid"]}})
        except (NotFound, Invalid):
            return

    def _see(self, write: Revision) -> None:
        if write.before is not None:
            before = self._place(write.before)
            if write.change == "DELETED" or before is not self._place(write.object):
                before.pop(write.before["metadata"]["uid"], None)
                self._forget_if_empty(write.before)
        if write.change != "DELETED":
            self._place(write.object)[write.object["metadata"]["uid"]] = write.object

    def _place(self, obj: Object) -> dict[str, Object]:
        owner = controller_of(obj)
        if owner is None:
            return self._orphans.setdefault(obj["metadata"].get("namespace", ""), {})
        return self._owned.setdefault(owner["uid"], {})

    def _forget_if_empty(self, obj: Object) -> None:
        owner = controller_of(obj)
        if owner is not None and not self._owned.get(owner["uid"]):
            self._owned.pop(owner["uid"], None)


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

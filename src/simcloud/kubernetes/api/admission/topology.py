"""PodTopologyLabels: copy the zone and region labels of the node to a pod that is bound to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcloud.kubernetes.api.admission.plugin import PODS, Quiet
from simcloud.kubernetes.api.objects import at
from simcloud.kubernetes.api.store import Key

if TYPE_CHECKING:
    from simcloud.kubernetes.api.context import Write

_LABELS: Final = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")


class TopologyLabels(Quiet):
    """Copies a node's labels to the pod that is made on it, or to the binding that brings a pod there."""

    resources = (PODS,)

    def admit(self, write: Write) -> None:
        if write.operation != "CREATE" or write.resource.key != PODS:
            return
        if write.subresource == "binding":
            node = at(write.new, "target", "name")
        elif not write.subresource:
            node = write.new["spec"].get("nodeName")
        else:
            return
        found = write.api.log.get(Key("", "nodes", "", node)) if node else None
        known = ((found or {}).get("metadata") or {}).get("labels") or {}
        labels = {name: known[name] for name in _LABELS if name in known}
        if labels:
            metadata = write.new.setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), **labels}

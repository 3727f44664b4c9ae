"""A cluster in which only the scheduler lives: nodes and pods are made by hand, and nothing runs on them."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.objects import Object, copy
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.scheduler import Scheduler
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.bare import without_loops

SMALL = {"cpu": "2", "memory": "4Gi", "ephemeral-storage": "10Gi", "pods": "110"}
ONE_NODE = "kind-control-plane"
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


class World:
    def __init__(self, seed: int = 1) -> None:
        self.api: Api = without_loops(Cluster(Kernel(seed)).api)
        self.client = ComponentClient(self.api, "admin", "test")
        self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        Scheduler(self.api).start()

    def node(
        self,
        name: str = ONE_NODE,
        taints: Any = None,
        labels: dict[str, str] | None = None,
        images: dict[str, int] | None = None,
        **allocatable: str,
    ) -> None:
        spec = {"taints": taints} if taints else {}
        metadata = {"name": name, "labels": {HOST: name} | (labels or {})}
        made = self.client.create({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec})
        changed: Object = copy(made)
        told = SMALL | {key.replace("_", "-"): value for key, value in allocatable.items()}
        changed["status"] = {"capacity": told, "allocatable": told}
        if images:
            changed["status"]["images"] = [
                {"names": [image], "sizeBytes": size} for image, size in images.items()
            ]
        self.client.update_status(changed)

    def pod(
        self,
        name: str,
        cpu: str = "",
        labels: dict[str, str] | None = None,
        image: str = "busybox:1.36",
        ports: Any = None,
        owner: Object | None = None,
        **spec: Any,
    ) -> None:
        container: Object = {"name": "app", "image": image}
        container |= {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
        container |= {"ports": ports} if ports else {}
        metadata: Object = {
            "name": name,
            "namespace": "lab",
            "labels": labels if labels is not None else {"app": name.partition("-")[0]},
        }
        if owner is not None:
            metadata["ownerReferences"] = [reference(owner)]
        body = {"containers": [container], **spec}
        self.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body})

    def priority(self, name: str, value: int, **more: Any) -> None:
        made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        self.client.create(made | {"value": value} | more)

    def run(self, seconds: float = 5) -> None:
        self.api.kernel.run_for(seconds)

    def get(self, name: str) -> Object:
        found = self.client.get("pods", "lab", name)
        assert found is not None
        return found

    def where(self, name: str) -> str | None:
        """The node of a pod."""
        place: str | None = self.get(name)["spec"].get("nodeName")
        return place

    def why(self, name: str) -> str:
        """What a pod's condition says about why it has no node."""
        (condition,) = (
            one for one in self.get(name)["status"]["conditions"] if one["type"] == "PodScheduled"
        )
        assert condition["status"] == "False"
        message: str = condition["message"]
        return message

    def gone(self, name: str) -> None:
        """Delete a pod at once."""
        self.client.delete(self.get(name), grace_s=0)

    def cordon(self, name: str, value: bool = True) -> None:
        found = self.client.get("nodes", "", name)
        assert found is not None
        self.client.patch(found, {"spec": {"unschedulable": value or None}})

    def events(self, reason: str, name: str = "") -> list[Object]:
        return [
            one
            for one in self.client.list("events", "lab")
            if one["reason"] == reason and name in ("", one["involvedObject"]["name"])
        ]


def reference(owner: Object) -> Object:
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }


def no_room(total: int, reasons: str, not_helpful: int = 0, no_victims: int = 0) -> str:
    """The whole sentence of a pod that no node takes and for which no room can be made."""
    parts = [f"{no_victims} No preemption victims found for incoming pod"] if no_victims else []
    parts += [f"{not_helpful} Preemption is not helpful for scheduling"] if not_helpful else []
    return (
        f"0/{total} nodes are available: {reasons}. no new claims to deallocate, "
        f"preemption: 0/{total} nodes are available: {', '.join(parts)}."
    )

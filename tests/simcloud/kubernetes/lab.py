"""A living cluster with an administrator at it: what tests of whole clusters are written with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import Object, at
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.images import ImageRegistry
from simcloud.kubernetes.nodes import node_names
from simcloud.kubernetes.shapes import MachineFacts
from simcloud.world.world import World

Change = Callable[[Object], None]


class Lab:
    """A cluster with an administrator at it."""

    def __init__(
        self,
        seed: int = 3,
        nodes: int = 4,
        registry: ImageRegistry | None = None,
        facts: MachineFacts | None = None,
    ) -> None:
        """A kind cluster, whatever the number of its nodes."""
        self.world = World(seed)
        machines = [self.world.add_machine(name, facts) for name in node_names(nodes)]
        self.cluster = Cluster(self.world.kernel, machines)
        self.cluster.start(registry)
        self.world.run_for(40)
        self.client = ComponentClient(self.cluster.api, "kubernetes-admin", "kubectl")

    def create(self, kind: str, name: str, api_version: str = "v1", **parts: Any) -> Object:
        metadata = {"name": name, "namespace": "default"}
        return self.client.create({"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts})

    def deploy(self, name: str, image: str, replicas: int, command: list[str] | None = None) -> Object:
        labels = {"app": name}
        container: Object = {"name": "main", "image": image}
        if command:
            container["command"] = command
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
        return self.create("Deployment", name, "apps/v1", spec=spec)

    def get(self, resource: str, name: str, namespace: str = "default") -> Object:
        """An object that is there; of nodes, too."""
        found = self.client.get(
            resource, namespace if self.client.resource(resource).namespaced else "", name
        )
        assert found is not None, f"there is no {resource} {name}"
        return found

    def set(self, name: str, change: Change, resource: str = "deployments.apps") -> None:
        """Change an object as an editor would."""
        self.client.edit(self.get(resource, name), change)

    def cordon(self, node: str, cordoned: bool = True) -> None:
        """Keep new pods off a node, or let them come again."""
        self.set(node, lambda obj: obj["spec"].update(unschedulable=cordoned), "nodes")

    def drain(self, node: str) -> None:
        """Cordon a node and evict whoever is not a daemon's; a budget may refuse."""
        self.cordon(node)
        for pod in self.pods(None):
            owners = [one["kind"] for one in pod["metadata"].get("ownerReferences") or ()]
            if pod["spec"].get("nodeName") == node and owners not in (["DaemonSet"], ["Node"]):
                self.evict(pod)

    def evict(self, pod: Object) -> None:
        """As ``kubectl drain`` asks for a pod's end."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        body = {"metadata": {"name": name, "namespace": namespace}}
        try:
            self.cluster.api.subresource(
                "create", self.client.resource("pods"), namespace, name, "eviction", body
            )
        except ApiError as refused:
            assert refused.code == 429, refused

    def pods(self, namespace: str | None = "default") -> list[Object]:
        return self.client.list("pods", namespace)

    def states(self) -> list[str]:
        return sorted(state(pod) for pod in self.pods())


def state(pod: Object) -> str:
    statuses = at(pod, "status", "containerStatuses", default=None) or []
    waiting = [at(one, "state", "waiting", "reason") for one in statuses]
    return next((reason for reason in waiting if reason), pod["status"]["phase"])

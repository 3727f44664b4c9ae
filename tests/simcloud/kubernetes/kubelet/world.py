"""A node with a kubelet, and somebody who binds every pod to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from simcloud.kubernetes import nodes
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.runtime import LogOptions
from simcloud.kubernetes.api.store import Revision
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.images import ImageRegistry, standard_registry
from simcloud.kubernetes.kubelet.fleet import Fleet
from simcloud.kubernetes.kubelet.kubelet import Kubelet
from simcloud.kubernetes.network.pod_network import ClusterNetwork
from simcloud.machine.computer import Machine
from simcloud.machine.network import HostsResolver, Network
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.bare import without_loops

NODE = "kind-control-plane"


class World:
    """One node. Pods are bound to it as soon as they are created."""

    def __init__(self, seed: int = 1, registry: ImageRegistry | None = None, **machine: Any) -> None:
        self.kernel = Kernel(seed)
        self.cluster = Cluster(self.kernel)
        without_loops(self.cluster.api)
        self.api = self.cluster.api
        self.client = ComponentClient(self.api, "kubernetes-admin", "kubectl")
        network = Network(self.kernel)
        self.machine = Machine(
            self.kernel, network, NODE, "172.18.0.2", operator_image(), resolver=HostsResolver({}), **machine
        )
        nodes.register(self.api, self.machine, "172.18.0.2", 0)
        self.registry = registry or standard_registry()
        self.network = ClusterNetwork(self.api)
        self.kubelet = Kubelet(self.api, self.machine, self.registry, self.network)
        self.fleet = Fleet()
        self.fleet.add(self.kubelet)
        self.api.runtime = self.fleet
        self.client.follow("pods", self._bind)
        self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        self.kubelet.start()
        self.kernel.run_for(0.37)

    def _bind(self, write: Revision) -> None:
        if write.change == "ADDED" and not write.object["spec"].get("nodeName"):
            self.kernel.call_later(0.01, self._bind_one, write.key)

    def _bind_one(self, key: Any) -> None:
        if self.api.log.get(key) is None:
            return  # deleted before it was bound
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": key.name, "namespace": key.namespace},
            "target": {"kind": "Node", "name": NODE},
        }
        pods = self.api.catalogue.find("pods")
        self.api.subresource("create", pods, key.namespace, key.name, "binding", binding)

    def apply(self, text: str) -> None:
        """Create what a manifest says."""
        for obj in yaml.safe_load_all(text):
            self.client.create(obj)

    def run(self, name: str, *args: str, image: str = "busybox:1.36", **spec: Any) -> None:
        """As ``kubectl run``."""
        container: Object = {"name": name, "image": image, **({"args": list(args)} if args else {})}
        container |= spec.pop("container", {})
        self.client.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "lab", "labels": {"run": name}},
                "spec": {"containers": [container], **spec},
            }
        )

    def pod(self, name: str) -> Object:
        """A pod of the namespace."""
        found = self.client.get("pods", "lab", name)
        assert found is not None, f"there is no pod {name}"
        return found

    def has(self, name: str) -> bool:
        return self.client.get("pods", "lab", name) is not None

    def status(self, name: str, container: str | None = None) -> Object:
        """The status of a pod's container; of the first one if none is named."""
        found = self.pod(name)["status"]["containerStatuses"]
        return next(each for each in found if container in (None, each["name"]))

    def events(self, name: str) -> list[tuple[int, str, str, str]]:
        """What was told about an object: count, type, reason and message, the oldest first."""
        found = [each for each in self.client.list("events") if each["involvedObject"]["name"] == name]
        found.sort(key=lambda each: int(each["metadata"]["name"].rpartition(".")[2], 16))
        return [(each["count"], each["type"], each["reason"], each["message"]) for each in found]

    def reasons(self, name: str) -> list[str]:
        return [each[2] for each in self.events(name)]

    def logs(self, name: str, container: str = "", **options: Any) -> str:
        """A container's log."""
        chosen = container or self.pod(name)["spec"]["containers"][0]["name"]
        stream = self.fleet.logs(self.pod(name), LogOptions(container=chosen, **options))
        parts: list[bytes] = []
        stream.on_data = parts.append
        self.kernel.run_for(0.001)
        return b"".join(parts).decode()

    def run_until_ready(self, names: Iterable[str], limit_s: float = 60.0) -> None:
        end = self.kernel.now + limit_s
        while self.kernel.now < end:
            self.kernel.run_for(0.5)
            if all(is_ready(self.pod(name)) for name in names):
                return
        raise AssertionError({name: self.pod(name)["status"] for name in names})


def is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

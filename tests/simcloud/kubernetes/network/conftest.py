"""A cluster of three machines with real namespaces, whose Services and policies are written by the test."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from simcloud.kubernetes.api.api import Api
from simcloud.kubernetes.api.store import RevisionLog
from simcloud.kubernetes.cluster import Cluster
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.kubernetes.controller import NamespacedName
from simcloud.kubernetes.controllers.nodes.registration import NodeRanges
from simcloud.kubernetes.network.router import install_network
from simcloud.machine.computer import Machine
from simcloud.machine.network import Namespace, Network, NetworkError
from simcloud.sim import Kernel
from simcloud.userland.images import operator_image
from tests.simcloud.kubernetes.api.frozen import freeze
from tests.simcloud.kubernetes.bare import without_loops

T = TypeVar("T")
Data = dict[str, Any]

NODES = ("kind-control-plane", "kind-worker", "kind-worker2")


@pytest.fixture(autouse=True)
def frozen_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored cannot be changed."""
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(freeze))


class World:
    """Machines, their cluster, and pods with addresses but without a kubelet."""

    def __init__(self, seed: int = 1) -> None:
        self.kernel = Kernel(seed)
        self.network = Network(self.kernel)
        image = operator_image()
        self.machines = [
            Machine(self.kernel, self.network, name, f"172.18.0.{number + 2}", image)
            for number, name in enumerate(NODES)
        ]
        self.api: Api = without_loops(Cluster(self.kernel, self.machines).api)
        self.client = ComponentClient(self.api, "system:admin", "test")
        for node in NODES:
            NodeRanges(self.api).sync(NamespacedName("", node))
        networking = install_network(self.api, self.network)
        self.pods, self.services = networking.pods, networking.services
        for node in NODES:
            self.services.run_on(node)
        self.create("v1", "Namespace", "demo", namespace="")

    def create(self, version: str, kind: str, name: str, namespace: str = "demo", **content: Any) -> Data:
        metadata: Data = {"name": name, **content.pop("metadata", {})}
        if namespace:
            metadata["namespace"] = namespace
        return self.client.create({"apiVersion": version, "kind": kind, "metadata": metadata, **content})

    def pod(self, name: str, node: int = 1, namespace: str = "demo", **spec: Any) -> Namespace:
        """A pod that was bound to a node and has its address."""
        labels = spec.pop("labels", {"app": name})
        pod = self.create(
            "v1",
            "Pod",
            name,
            namespace,
            metadata={"labels": labels},
            spec={"nodeName": NODES[node], "containers": [{"name": "main", "image": "busybox"}], **spec},
        )
        return self.pods.attach(pod, self.machines[node])

    def service(self, name: str, address: str = "10.96.7.7", namespace: str = "demo", **spec: Any) -> Data:
        """A Service with a port 80, unless said otherwise."""
        given: Data = {"clusterIP": address, "ports": [{"port": 80, "targetPort": 8080}], **spec}
        return self.create("v1", "Service", name, namespace, spec=given)

    def endpoints(self, service: str, *pods: Namespace, namespace: str = "demo", **more: Any) -> Data:
        """An EndpointSlice with these pods; ``conditions`` hold for all of them."""
        conditions = more.pop("conditions", {"ready": True})
        hostnames = more.pop("hostnames", [None] * len(pods))
        endpoints: list[Data] = []
        for pod, hostname in zip(pods, hostnames, strict=True):
            endpoint: Data = {
                "addresses": [pod.address],
                "conditions": conditions,
                "nodeName": pod.machine,
                "targetRef": {"kind": "Pod", "name": pod.name.split("/")[-1], "namespace": namespace},
            }
            endpoints.append({**endpoint, **({"hostname": hostname} if hostname else {})})
        return self.create(
            "discovery.k8s.io/v1",
            "EndpointSlice",
            more.pop("name", f"{service}-x"),
            namespace,
            metadata={"labels": {"kubernetes.io/service-name": service, **more.pop("labels", {})}},
            addressType="IPv4",
            endpoints=endpoints,
            ports=more.pop("ports", [{"name": "", "port": 8080, "protocol": "TCP"}]),
        )

    def server(self, name: str, node: int = 1, port: int = 8080, **spec: Any) -> Namespace:
        """A pod that takes connections."""
        pod = self.pod(name, node, **spec)
        pod.listen(port, "http").on_accept = lambda _connection: None
        return pod

    def reaches(self, source: Namespace, address: str, port: int = 80, timeout_s: float = 5.0) -> str:
        """The pod at the other end of a new connection."""

        async def dial() -> str:
            connection = await source.dial(address, port, "http", timeout_s)
            taker = connection.peer.namespace.name
            connection.close()
            return taker.split("/")[-1]

        return self.run(dial())

    def outcome(self, source: Namespace, address: str, port: int = 80) -> str:
        """The pod reached, or the name of what went wrong."""
        try:
            return self.reaches(source, address, port)
        except NetworkError as error:
            return type(error).__name__

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.kernel.run_task(self.kernel.spawn(work, "test", supervised=True))

    def settle(self, seconds: float = 2.0) -> None:
        self.kernel.run_for(seconds)


@pytest.fixture
def world() -> World:
    return World()

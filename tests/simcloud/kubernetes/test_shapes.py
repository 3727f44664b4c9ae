"""Clusters of one and two nodes as they were recorded, young and grown up; larger ones as kind builds them."""

from __future__ import annotations

import pytest

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.component_client import ComponentClient
from simcloud.world.clusters import add_cluster
from simcloud.world.world import World


class Lab:
    """A cluster of some age with an administrator at it."""

    def __init__(self, nodes: int, age_s: float) -> None:
        self.world = World(5)
        self.cluster = add_cluster(self.world, nodes)
        self.cluster.start()
        self.world.run_for(age_s)
        self.client = ComponentClient(self.cluster.api, "kubernetes-admin", "kubectl")

    def node(self, name: str = "kind-control-plane") -> Object:
        found = self.client.get("nodes", "", name)
        assert found is not None
        return found

    def run(self, command: list[str]) -> tuple[int, str]:
        """What a command prints in a pod of its own."""
        spec = {"containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "3600"]}]}
        metadata = {"name": "cli", "namespace": "default"}
        self.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        self.world.run_for(5)
        runtime, pod = self.cluster.api.runtime, self.client.get("pods", "default", "cli")
        assert runtime is not None and pod is not None
        session = runtime.exec(pod, "main", command, stdin=False, stderr=True, tty=False)
        heard: list[bytes] = []
        ended: list[int] = []
        session.on_output = lambda _, data: heard.append(data)
        session.on_end = lambda code, _: ended.append(code)
        self.world.run_for(20)
        return ended[0], b"".join(heard).decode()


def test_one_node_two_seconds_old_is_the_recorded_one() -> None:
    lab = Lab(1, 2)
    status = lab.node()["status"]
    assert status["capacity"] == {
        "cpu": "2",
        "ephemeral-storage": "264212084Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "24682740Ki",
        "pods": "110",
    }
    assert status["nodeInfo"]["kernelVersion"] == "6.18.44-fc-v310"
    assert status["nodeInfo"]["containerRuntimeVersion"] == "containerd://2.1.9+unknown"
    assert status["declaredFeatures"] and status["features"] and status["runtimeHandlers"]
    assert lab.node()["spec"] == {
        "taints": [{"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready"}]
    }, "no loop has turned yet"
    reasons = {(one["metadata"]["namespace"], one["reason"]) for one in lab.client.list("events")}
    assert reasons == {
        *(("default", reason) for reason in ("Starting", "CgroupV1", "NodeReady", "NodeAllocatableEnforced")),
        *(("default", f"NodeHas{rest}") for rest in ("SufficientMemory", "NoDiskPressure", "SufficientPID")),
        ("kube-system", "LeaderElection"),
    }
    lab.world.run_for(10)
    assert lab.node()["spec"] == {"podCIDR": "10.244.0.0/24", "podCIDRs": ["10.244.0.0/24"]}
    assert lab.client.list("pods") == []


@pytest.mark.parametrize("nodes", [1, 2])
def test_names_are_found_though_no_pod_serves_them(nodes: int) -> None:
    lab = Lab(nodes, 10)
    code, text = lab.run(["nslookup", "kubernetes.default.svc.cluster.local"])
    assert (code, "10.96.0.1" in text) == (0, True), text


def test_two_nodes_have_the_recorded_size() -> None:
    lab = Lab(2, 10)
    for name in ("kind-control-plane", "kind-worker"):
        capacity = lab.node(name)["status"]["capacity"]
        assert (capacity["cpu"], capacity["memory"], capacity["ephemeral-storage"]) == ("8", "32Gi", "100Gi")
    assert [one["metadata"]["name"] for one in lab.client.list("namespaces")] == [
        "default",
        "kube-node-lease",
        "kube-public",
        "kube-system",
    ]


def test_the_kernel_is_the_same_in_a_pod_and_in_its_node() -> None:
    assert Lab(1, 10).run(["uname", "-r"]) == (0, "6.18.44-fc-v310\n")


def test_leases_of_the_control_plane_are_renewed() -> None:
    lab = Lab(2, 31)
    for name in ("kube-controller-manager", "kube-scheduler"):
        lease = lab.client.get("leases.coordination.k8s.io", "kube-system", name)
        assert lease is not None
        assert lease["spec"]["renewTime"] > lease["spec"]["acquireTime"]

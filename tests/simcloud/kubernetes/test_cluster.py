"""A whole cluster in process: what is declared comes to run, what breaks is seen, what is undone heals."""

from __future__ import annotations

from typing import Any

import pytest

from simcloud.kubernetes.api.objects import Object, copy
from simcloud.sim.determinism import check_determinism
from tests.simcloud.kubernetes.lab import Lab, state
from tests.simcloud.kubernetes.life import life


@pytest.fixture
def lab() -> Lab:
    return Lab()


def test_the_system_comes_up(lab: Lab) -> None:
    nodes = {one["metadata"]["name"]: one for one in lab.client.list("nodes")}
    assert list(nodes) == ["kind-control-plane", "kind-worker", "kind-worker2", "kind-worker3"]
    for node in nodes.values():
        ready = next(one for one in node["status"]["conditions"] if one["type"] == "Ready")
        assert ready["status"] == "True"
    system = lab.pods("kube-system")
    assert {state(pod) for pod in system} == {"Running"}
    names = {pod["metadata"]["name"].split("-")[0] for pod in system}
    assert {"coredns", "etcd", "kindnet", "kube"} <= names


def test_a_service_is_reached_by_its_name(lab: Lab) -> None:
    lab.deploy("web", "nginx:1.19", 3)
    lab.create("Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80}]})
    spec = {"containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "3600"]}]}
    lab.create("Pod", "cli", spec=spec)
    lab.world.run_for(20)
    assert lab.states() == ["Running"] * 4
    runtime, pod = lab.cluster.api.runtime, lab.client.get("pods", "default", "cli")
    assert runtime is not None and pod is not None
    session = runtime.exec(pod, "main", ["wget", "-qO-", "http://web"], stdin=False, stderr=True, tty=False)
    heard: list[bytes] = []
    ended: list[int] = []
    session.on_output = lambda _, data: heard.append(data)
    session.on_end = lambda code, _: ended.append(code)
    lab.world.run_for(10)
    assert ended == [0]
    assert b"nginx" in b"".join(heard)


def test_a_broken_rollout_stands_still_and_is_undone(lab: Lab) -> None:
    lab.deploy("web", "nginx:1.19", 3)
    lab.world.run_for(15)

    def image(name: str) -> Any:
        def change(obj: Object) -> None:
            obj["spec"]["template"]["spec"]["containers"][0]["image"] = name

        return change

    lab.set("web", image("nginx:nosuchtag"))
    lab.world.run_for(30)
    assert lab.states().count("Running") == 3
    assert set(lab.states()) & {"ErrImagePull", "ImagePullBackOff"}
    lab.set("web", image("nginx:1.19"))
    lab.world.run_for(40)
    assert lab.states() == ["Running"] * 3


def test_a_lost_machine_loses_its_pods_to_others(lab: Lab) -> None:
    lab.deploy("web", "nginx:1.19", 6)
    lab.world.run_for(15)
    lost = "kind-worker2"
    assert any(pod["spec"]["nodeName"] == lost for pod in lab.pods())
    lab.world.machines[lost].lose()
    lab.world.run_for(60)
    node = lab.client.get("nodes", "", lost)
    assert node is not None
    ready = next(one for one in node["status"]["conditions"] if one["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    lab.world.run_for(360)
    alive = [pod for pod in lab.pods() if "deletionTimestamp" not in pod["metadata"]]
    assert len(alive) == 6
    assert all(pod["spec"]["nodeName"] != lost for pod in alive)


def test_a_deleted_namespace_takes_everything_along(lab: Lab) -> None:
    lab.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gone"}})
    lab.world.run_for(1)
    pod = {"containers": [{"name": "main", "image": "busybox:1.36", "command": ["sleep", "3600"]}]}
    lab.client.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "gone"}, "spec": pod}
    )
    lab.world.run_for(10)
    namespace = lab.client.get("namespaces", "", "gone")
    assert namespace is not None
    lab.client.delete(namespace)
    lab.world.run_for(90)
    assert lab.client.get("namespaces", "", "gone") is None
    assert lab.pods("gone") == []


@pytest.mark.slow
def test_one_seed_one_life() -> None:
    """Deploy, scale, break, roll back, drain, lose, delete: every revision whatever the hash seed and the host."""
    report = check_determinism(life, seed=11)
    assert report.observations > 1_500


def test_what_is_handed_out_is_not_changed(lab: Lab) -> None:
    """A stored object stays as it was stored, whatever the loops do afterwards."""
    kept = [(write.object, copy(write.object)) for write in lab.cluster.api.log.history()]
    lab.deploy("web", "nginx:1.19", 2)
    lab.world.run_for(20)
    assert all(stored == before for stored, before in kept)

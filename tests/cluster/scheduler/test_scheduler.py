"""The scheduler as an operator sees it: where pods go, and the sentences when they go nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from aiopslab.cluster.api.api import Api
from aiopslab.cluster.api.objects import Object, copy
from aiopslab.cluster.api.store import RevisionLog
from aiopslab.cluster.client import Client
from aiopslab.cluster.cluster import Cluster
from aiopslab.cluster.scheduler import Scheduler
from aiopslab.sim import Kernel
from tests.cluster.api.frozen import freeze
from tests.cluster.bare import without_loops

SMALL = {"cpu": "2", "memory": "4Gi", "ephemeral-storage": "10Gi", "pods": "110"}
NOT_HELPFUL = "no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


class World:
    def __init__(self, seed: int = 1) -> None:
        self.api: Api = without_loops(Cluster(Kernel(seed)).api)
        self.client = Client(self.api, "admin", "test")
        self.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}})
        Scheduler(self.api).start()

    def node(self, name: str = "kind-control-plane", taints: Any = None, **allocatable: str) -> None:
        labels = {"kubernetes.io/hostname": name}
        spec = {"taints": taints} if taints else {}
        made = self.client.create(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}
        )
        changed: Object = copy(made)
        changed["status"] = {"capacity": SMALL | allocatable, "allocatable": SMALL | allocatable}
        self.client.update_status(changed)

    def pod(self, name: str, cpu: str = "", **spec: Any) -> None:
        container: Object = {"name": "app", "image": "busybox:1.36"}
        container |= {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
        self.client.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "lab", "labels": {"app": name.partition("-")[0]}},
                "spec": {"containers": [container], **spec},
            }
        )

    def run(self, seconds: float = 5) -> None:
        self.api.kernel.run_for(seconds)

    def get(self, name: str) -> Object:
        found = self.client.get("pods", "lab", name)
        assert found is not None
        return found

    def events(self, reason: str) -> list[Object]:
        return [one for one in self.client.list("events", "lab") if one["reason"] == reason]


@pytest.fixture(autouse=True)
def frozen_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RevisionLog, "seal", staticmethod(freeze))


@pytest.fixture
def world() -> World:
    return World()


def test_a_pod_gets_its_node(world: World) -> None:
    world.node()
    world.pod("ok")
    world.run()
    assert world.get("ok")["spec"]["nodeName"] == "kind-control-plane"
    (event,) = world.events("Scheduled")
    assert event["message"] == "Successfully assigned lab/ok to kind-control-plane"
    assert event["action"] == "Binding"
    assert event["reportingInstance"] == "default-scheduler-kind-control-plane"


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"cpu": "64"}, "1 Insufficient cpu"),
        ({"nodeSelector": {"disktype": "ssd"}}, "1 node(s) didn't match Pod's node affinity/selector"),
    ],
)
def test_the_sentence_is_the_recorded_one(world: World, spec: dict[str, Any], reason: str) -> None:
    world.node()
    world.pod("no", **spec)
    world.run()
    sentence = f"0/1 nodes are available: {reason}. {NOT_HELPFUL}"
    (condition,) = world.get("no")["status"]["conditions"]
    assert condition["message"] == sentence
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert [one["message"] for one in world.events("FailedScheduling")] == [sentence]


def test_taints_keep_pods_away(world: World) -> None:
    world.node(taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])
    world.pod("late")
    world.pod("may", tolerations=[{"key": "k", "operator": "Exists"}])
    world.run()
    message = world.get("late")["status"]["conditions"][0]["message"]
    assert message.startswith("0/1 nodes are available: 1 node(s) had untolerated taint(s). ")
    assert world.get("may")["spec"]["nodeName"] == "kind-control-plane"


def test_a_missing_claim_is_named_as_recorded(world: World) -> None:
    world.node()
    world.pod("p", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "nosuch-pvc"}}])
    world.run()
    message = world.get("p")["status"]["conditions"][0]["message"]
    assert message == '0/1 nodes are available: persistentvolumeclaim "nosuch-pvc" not found. not found'


def test_a_full_node_without_victims_says_so_and_takes_the_pod_when_there_is_room(world: World) -> None:
    world.node()
    for number in range(4):
        world.pod(f"heavy-{number}", cpu="600m")
    world.run()
    message = world.get("heavy-3")["status"]["conditions"][0]["message"]
    assert message == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )
    world.client.delete(world.get("heavy-0"), grace_s=0)
    world.run()
    assert world.get("heavy-3")["spec"]["nodeName"] == "kind-control-plane"


def test_an_important_pod_makes_room_as_recorded(world: World) -> None:
    world.node()
    for number in range(3):
        world.pod(f"heavy-{number}", cpu="600m")
    world.run()
    world.client.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 100000,
        }
    )
    world.pod("vip", cpu="1", priorityClassName="high")
    world.run()
    vip = world.get("vip")
    assert vip["status"]["nominatedNodeName"] == "kind-control-plane"
    leaving = [pod for pod in world.client.list("pods", "lab") if "deletionTimestamp" in pod["metadata"]]
    assert len(leaving) == 2
    target = next(one for one in leaving[0]["status"]["conditions"] if one["type"] == "DisruptionTarget")
    assert target["reason"] == "PreemptionByScheduler"
    told = {one["message"] for one in world.events("Preempted")}
    assert told == {f"Preempted by pod {vip['metadata']['uid']} on node kind-control-plane"}
    assert world.events("FailedScheduling")[0]["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    for pod in leaving:
        world.client.delete(pod, grace_s=0)
        world.run()
    assert world.get("vip")["spec"]["nodeName"] == "kind-control-plane"
    assert "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: " + (
        "not eligible due to a terminating pod on the nominated node."
    ) in [one["message"] for one in world.events("FailedScheduling")]


def test_pods_spread_over_nodes_and_the_same_seed_places_them_the_same() -> None:
    def places() -> list[str]:
        world = World(seed=7)
        for number in range(4):
            world.node(f"n{number}")
        for number in range(16):
            world.pod(f"p{number:02}", cpu="100m")
        world.run()
        return [world.get(f"p{number:02}")["spec"]["nodeName"] for number in range(16)]

    first = places()
    assert first == places()
    assert [first.count(f"n{number}") for number in range(4)] == [4, 4, 4, 4]


def test_anti_affinity_lets_one_pod_on_a_node(world: World) -> None:
    world.node()
    rule = {"labelSelector": {"matchLabels": {"app": "spread"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
    world.pod("spread-0", affinity=affinity)
    world.pod("spread-1", affinity=affinity)
    world.run()
    message = world.get("spread-1")["status"]["conditions"][0]["message"]
    assert message == (
        "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. no new claims to "
        "deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


def test_a_constraint_on_a_label_that_no_node_has(world: World) -> None:
    world.node()
    constraint = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "tsc"}},
    }
    world.pod("tsc-0", topologySpreadConstraints=[constraint])
    world.run()
    message = world.get("tsc-0")["status"]["conditions"][0]["message"]
    why = "node(s) didn't match pod topology spread constraints (missing required label)"
    assert message == f"0/1 nodes are available: 1 {why}. {NOT_HELPFUL}"

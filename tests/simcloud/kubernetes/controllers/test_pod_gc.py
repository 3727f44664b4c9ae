"""Pods that nobody else clears away. (Pods of nodes that are gone are among the cases.)"""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.nodes.pod_gc import PodGarbageCollector
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World

__all__ = ["frozen_objects"]


def pod(name: str, **metadata: object) -> Object:
    spec = {"containers": [{"name": "c", "image": "busybox:1.36"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def names(world: World) -> list[str]:
    return [one["metadata"]["name"] for one in world.named("pods/*")]


def test_the_oldest_of_too_many_finished_pods_go() -> None:
    world = World([])
    PodGarbageCollector(world.api, terminated_kept=2).start()
    for number in range(4):
        world.create(pod(f"p{number}"))
        world.kernel.run_for(1.0)
        world.tell(f"pods/p{number}", "Succeeded", False)
    world.create(pod("running"))
    world.kernel.run_for(15.9)
    assert len(names(world)) == 5
    world.kernel.run_for(0.2)
    assert names(world) == ["p2", "p3", "running"]


def test_evicted_pods_go_before_others() -> None:
    world = World([])
    PodGarbageCollector(world.api, terminated_kept=1).start()
    world.create([pod("old"), pod("evicted")])
    world.kernel.run_for(1.0)
    world.tell("pods/*", "Failed", False)
    world.patch({"pods/evicted": {"status": {"reason": "Evicted"}}}, "status")
    world.kernel.run_for(20.0)
    assert names(world) == ["old"]


def test_a_pod_that_was_never_scheduled_fails_and_goes() -> None:
    world = World(["pod-garbage-collector"], stand_in=False)
    world.create([pod("held", finalizers=["example.com/hold"]), pod("waiting")])
    world.delete("pods/held")
    world.kernel.run_for(21.0)
    held, waiting = world.named("pods/*")
    assert (held["status"]["phase"], waiting["status"]["phase"]) == ("Failed", "Pending")


def test_pods_that_end_on_a_node_out_of_service_are_ended_for_it() -> None:
    world = World(["pod-garbage-collector"])
    world.create([{**pod("a"), "spec": {**pod("a")["spec"], "nodeName": "kind-worker"}}])
    world.kernel.run_for(1.0)
    world.stand_in.nodes = []
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute", "value": "nodeshutdown"}
    world.patch({"nodes/kind-worker": {"spec": {"taints": [taint]}}}, "")
    world.patch(
        {"nodes/kind-worker": {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}}, "status"
    )
    world.patch({"pods/a": {"metadata": {"finalizers": ["example.com/hold"]}}}, "")
    world.delete("pods/a")
    world.kernel.run_for(20.0)
    (ended,) = world.named("pods/a")
    assert ended["status"]["phase"] == "Failed"

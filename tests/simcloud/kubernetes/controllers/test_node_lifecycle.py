"""Silent nodes: when they are noticed, and how carefully a failing zone is treated."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.times import micro, parse
from simcloud.kubernetes.controllers.nodes.zones import Tainter
from tests.simcloud.kubernetes.controllers.test_cases import World, frozen_objects

__all__ = ["frozen_objects"]


def node(name: str, ready: bool) -> Object:
    status = "True" if ready else "Unknown"
    return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": status}]}}


def taints(world: World, name: str) -> list[tuple[str, str]]:
    found = world.client.get("nodes", "", name)
    assert found is not None
    return [(one["key"], one["effect"]) for one in found["spec"].get("taints") or ()]


def test_a_lease_keeps_a_node_alive_and_its_end_is_noticed_as_recorded() -> None:
    """Recorded: the last renewal at 01:00:08, Unknown at 01:01:01, tainted for both effects at 01:01:08."""
    world = World(["node-controller"], stand_in=False)
    lease = world.client.create(
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "kind-worker", "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": "kind-worker", "leaseDurationSeconds": 40},
        }
    )
    for _ in range(20):
        renewed = micro(world.api.now_s)
        lease = world.client.edit(lease, lambda one, now=renewed: one["spec"].update(renewTime=now))
        last_s = world.api.now_s
        world.kernel.run_for(10)
    assert taints(world, "kind-worker") == []
    world.kernel.run_for(last_s + 60 - world.api.now_s)
    found = world.client.get("nodes", "", "kind-worker")
    assert found is not None
    ready = found["status"]["conditions"][0]
    assert ready["status"] == "Unknown"
    assert 50 <= parse(ready["lastTransitionTime"]) - last_s <= 60
    world.kernel.run_for(6)
    unreachable = "node.kubernetes.io/unreachable"
    assert taints(world, "kind-worker") == [(unreachable, "NoSchedule"), (unreachable, "NoExecute")]


def test_nodes_of_a_zone_are_tainted_one_every_ten_seconds() -> None:
    tainter = Tainter()
    nodes = [node("a", False), node("b", False), node("c", True)]
    for one in nodes[:2]:
        tainter.add(one)
    tainter.judge(nodes)
    assert tainter.due(100.0) == ["a"]
    assert tainter.due(105.0) == []
    assert tainter.next_s(105.0) == 5.0
    assert tainter.due(110.0) == ["b"]


def test_a_small_zone_of_which_most_fails_is_not_tainted() -> None:
    tainter = Tainter()
    nodes = [node(name, False) for name in "abc"] + [node("d", True)]
    for one in nodes[:3]:
        tainter.add(one)
    tainter.judge(nodes)
    assert tainter.due(100.0) == []
    assert tainter.next_s(100.0) is None
    tainter.remove("a")
    tainter.judge([node("a", True), *nodes[1:]])
    assert tainter.due(101.0) == ["b"]


def test_a_node_that_goes_is_told_of() -> None:
    world = World(["node-controller"], stand_in=False)
    world.kernel.run_for(6)
    world.delete("nodes/kind-worker")
    world.kernel.run_for(6)
    assert world.events()[-1] == (
        "Normal RemovingNode Node/kind-worker: "
        "Node kind-worker event: Removing Node kind-worker from Controller"
    )

"""What a node must be: large enough, labelled, not tainted, not cordoned, with its ports free."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.scheduler.world import ONE_NODE, World, no_room

TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


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
    sentence = no_room(1, reason, not_helpful=1)
    (condition,) = world.get("no")["status"]["conditions"]
    assert condition["message"] == sentence
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert [one["message"] for one in world.events("FailedScheduling")] == [sentence]


def test_reasons_of_many_nodes_are_counted_and_sorted_as_recorded(world: World) -> None:
    world.node("a")
    world.node("b", taints=[TAINT])
    world.pod("big", cpu="64")
    world.run()
    reasons = "1 Insufficient cpu, 1 node(s) had untolerated taint(s)"
    assert world.why("big") == no_room(2, reasons, not_helpful=2)
    world.cordon("b")
    world.run(20)
    # A cordon helps nobody; the pod is not tried again.
    assert world.why("big") == no_room(2, reasons, not_helpful=2)


def test_a_node_may_lack_several_things(world: World) -> None:
    world.node(pods="1", cpu="1")
    world.pod("first", cpu="1")
    world.pod("second", cpu="1")
    world.run()
    assert world.why("second") == no_room(1, "1 Insufficient cpu, 1 Too many pods", no_victims=1)


def test_the_largest_step_of_the_start_counts_too(world: World) -> None:
    world.node(cpu="1")
    setup = {"name": "setup", "image": "i", "resources": {"requests": {"cpu": "2"}}}
    world.pod("slow-start", cpu="100m", initContainers=[setup])
    world.run()
    assert world.why("slow-start") == no_room(1, "1 Insufficient cpu", not_helpful=1)


def test_extended_resources_are_counted(world: World) -> None:
    world.node()
    wants = {"name": "c", "image": "i", "resources": {"limits": {"example.com/gpu": "1"}}}
    world.pod("gpu", containers=[wants])
    world.run()
    assert world.why("gpu") == no_room(1, "1 Insufficient example.com/gpu", not_helpful=1)


def test_taints_keep_pods_away_that_do_not_tolerate_them(world: World) -> None:
    world.node(taints=[TAINT])
    world.pod("late")
    world.pod("may", tolerations=[{"key": "k", "operator": "Exists"}])
    world.run()
    assert world.why("late") == no_room(1, "1 node(s) had untolerated taint(s)", not_helpful=1)
    assert world.where("may") == ONE_NODE


def test_a_cordoned_node_takes_none_until_it_is_uncordoned(world: World) -> None:
    world.node()
    world.cordon(ONE_NODE)
    world.pod("p")
    world.run()
    # The taint of the same meaning is set by a controller, which does not run here.
    assert world.why("p") == no_room(1, "1 node(s) were unschedulable", not_helpful=1)
    world.cordon(ONE_NODE, False)
    world.run()
    assert world.where("p") == ONE_NODE


def affinity(*terms: Any) -> dict[str, Any]:
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    }


def named(*names: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": list(names)}]}


def test_a_pod_that_names_its_node_says_what_the_others_are(world: World) -> None:
    for name in ("a", "b", "c"):
        world.node(name)
    world.pod("of-b", affinity=affinity(named("b")))
    world.pod("big-of-b", cpu="64", affinity=affinity(named("b")))
    world.run()
    assert world.where("of-b") == "b"
    reasons = "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"
    assert world.why("big-of-b") == no_room(3, reasons, not_helpful=3)


def test_a_pod_that_names_two_nodes_at_once_conflicts_with_itself(world: World) -> None:
    world.node("a")
    world.node("b")
    both = {"matchFields": [*named("a")["matchFields"], *named("b")["matchFields"]]}
    world.pod("p", affinity=affinity(both))
    world.run()
    assert world.why("p") == "0/2 nodes are available: pod affinity terms conflict. not found"


def test_a_label_that_a_node_gets_lets_the_pod_in(world: World) -> None:
    world.node()
    rule = {"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]}
    world.pod("p", affinity=affinity(rule))
    world.run()
    assert world.why("p") == no_room(1, "1 node(s) didn't match Pod's node affinity/selector", not_helpful=1)
    node = world.client.get("nodes", "", ONE_NODE)
    assert node is not None
    world.client.patch(node, {"metadata": {"labels": {"cores": "8"}}})
    world.run()
    assert world.where("p") == ONE_NODE


def port(number: int, address: str = "", protocol: str = "TCP") -> list[dict[str, Any]]:
    told: dict[str, Any] = {"containerPort": number, "hostPort": number, "protocol": protocol}
    return [told | ({"hostIP": address} if address else {})]


def test_a_host_port_is_taken_once_on_a_node(world: World) -> None:
    world.node()
    world.pod("first", ports=port(80))
    world.pod("same", ports=port(80))
    world.pod("udp", ports=port(80, protocol="UDP"))
    world.pod("other", ports=port(81, "10.0.0.1"))
    world.pod("address", ports=port(81, "10.0.0.2"))
    world.pod("any", ports=port(81))
    world.run()
    assert [world.where(name) for name in ("first", "udp", "other", "address")] == [ONE_NODE] * 4
    reason = "1 node(s) didn't have free ports for the requested pod ports"
    assert world.why("same") == world.why("any") == no_room(1, reason, no_victims=1)
    world.gone("first")
    world.run()
    assert world.where("same") == ONE_NODE
    assert world.where("any") is None

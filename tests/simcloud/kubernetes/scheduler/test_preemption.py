"""Making room for more important pods: who goes, from where, and what is said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.scheduler.world import HOST, ONE_NODE, World, no_room


@pytest.fixture
def ranked(world: World) -> World:
    world.priority("high", 100000)
    world.priority("middle", 500)
    world.priority("low", 5)
    return world


def leaving(world: World) -> list[str]:
    found = world.client.list("pods", "lab")
    return sorted(one["metadata"]["name"] for one in found if "deletionTimestamp" in one["metadata"])


def started(world: World, name: str, at: str) -> None:
    world.client.edit(world.get(name), lambda pod: pod["status"].update(startTime=at), "status")


def budget(world: World, app: str, allowed: int) -> None:
    made = world.client.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": app, "namespace": "lab"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
        }
    )
    counts = {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    world.client.edit(made, lambda one: one.update(status=counts), "status")


def on(node: str, **more: Any) -> dict[str, Any]:
    return {"nodeSelector": {HOST: node}, **more}


def test_an_important_pod_makes_room_as_recorded(ranked: World) -> None:
    ranked.node()
    for number in range(3):
        ranked.pod(f"heavy-{number}", cpu="600m")
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    vip = ranked.get("vip")
    assert vip["status"]["nominatedNodeName"] == ONE_NODE
    gone = leaving(ranked)
    assert len(gone) == 2
    conditions = ranked.get(gone[0])["status"]["conditions"]
    target = next(one for one in conditions if one["type"] == "DisruptionTarget")
    assert (target["reason"], target["message"]) == (
        "PreemptionByScheduler",
        "default-scheduler: preempting to accommodate a higher priority pod",
    )
    told = ranked.events("Preempted")
    assert {one["message"] for one in told} == {
        f"Preempted by pod {vip['metadata']['uid']} on node {ONE_NODE}"
    }
    assert told[0]["related"]["name"] == "vip"
    assert ranked.events("FailedScheduling")[0]["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    for name in gone:
        ranked.gone(name)
        ranked.run()
    assert ranked.where("vip") == ONE_NODE
    assert "nominatedNodeName" not in ranked.get("vip")["status"]
    assert "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: " + (
        "not eligible due to a terminating pod on the nominated node."
    ) in [one["message"] for one in ranked.events("FailedScheduling")]


def test_a_pod_that_never_preempts(ranked: World) -> None:
    ranked.node()
    ranked.priority("polite", 100000, preemptionPolicy="Never")
    ranked.pod("heavy", cpu="2")
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="polite")
    ranked.run()
    assert leaving(ranked) == []
    assert ranked.why("vip") == (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
        "not eligible due to preemptionPolicy=Never."
    )


def test_equals_are_left_alone(ranked: World) -> None:
    ranked.node()
    ranked.pod("first", cpu="2", priorityClassName="high")
    ranked.run()
    ranked.pod("second", cpu="1", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == []
    assert ranked.why("second") == no_room(1, "1 Insufficient cpu", no_victims=1)


def test_what_would_not_be_enough_is_not_done(ranked: World) -> None:
    ranked.node("a")
    ranked.node("b", cpu="1")
    ranked.pod("small", cpu="500m", **on("a"))
    ranked.pod("equal", cpu="1", priorityClassName="high", **on("a"))
    ranked.run()
    ranked.pod("vip", cpu="1500m", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == []
    assert ranked.why("vip") == (
        "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are "
        "available: 1 Insufficient cpu, 1 Preemption is not helpful for scheduling."
    )


def test_as_few_go_as_need_to_and_the_least_important_of_them(ranked: World) -> None:
    ranked.node(cpu="3")
    ranked.pod("low", cpu="1", priorityClassName="low")
    ranked.pod("middle", cpu="1", priorityClassName="middle")
    ranked.pod("none", cpu="1")
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == ["none"]


def test_the_node_whose_victims_matter_least(ranked: World) -> None:
    for name, priority in (("a", "middle"), ("b", "low"), ("c", "middle")):
        ranked.node(name)
        ranked.pod(f"on-{name}", cpu="2", priorityClassName=priority, **on(name))
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == ["on-b"]
    assert ranked.get("vip")["status"]["nominatedNodeName"] == "b"


def test_then_the_node_with_fewer_victims(ranked: World) -> None:
    ranked.node("a")
    ranked.node("b")
    ranked.pod("a-0", cpu="1", **on("a"))
    ranked.pod("a-1", cpu="1", **on("a"))
    ranked.pod("b-0", cpu="2", **on("b"))
    ranked.run()
    ranked.pod("vip", cpu="2", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == ["b-0"]


def test_then_the_node_whose_victims_started_last(ranked: World) -> None:
    for name in ("a", "b", "c"):
        ranked.node(name)
        ranked.pod(f"on-{name}", cpu="2", **on(name))
    ranked.run()
    for name, hour in (("a", "01"), ("b", "03"), ("c", "02")):
        started(ranked, f"on-{name}", f"2026-01-01T{hour}:00:00Z")
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == ["on-b"]


def test_a_budget_sends_the_pod_to_another_node(ranked: World) -> None:
    ranked.node("a")
    ranked.node("b")
    ranked.pod("guarded", cpu="2", **on("a"))
    ranked.pod("free", cpu="2", priorityClassName="low", **on("b"))
    budget(ranked, "guarded", 0)
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    # The guarded pod matters less, but its budget comes first.
    assert leaving(ranked) == ["free"]


def test_a_budget_is_broken_where_there_is_no_other_way(ranked: World) -> None:
    ranked.node()
    ranked.pod("guarded", cpu="2")
    budget(ranked, "guarded", 0)
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == ["guarded"]


def test_guarded_pods_on_a_node_are_spared_first(ranked: World) -> None:
    ranked.node()
    ranked.pod("guarded", cpu="1")
    ranked.pod("low", cpu="1", priorityClassName="low")
    budget(ranked, "guarded", 0)
    ranked.run()
    ranked.pod("vip", cpu="1", priorityClassName="high")
    ranked.run()
    assert leaving(ranked) == ["low"]


def test_the_room_that_was_made_is_kept(ranked: World) -> None:
    ranked.node()
    for name in ("heavy-0", "heavy-1"):
        ranked.pod(name, cpu="1")
    ranked.run()
    ranked.pod("vip", cpu="2", priorityClassName="high")
    ranked.run()
    ranked.pod("sneaky", cpu="1")
    ranked.gone("heavy-0")
    ranked.run(20)
    # There is room for the small pod now, but not for both.
    assert ranked.where("sneaky") is None
    ranked.gone("heavy-1")
    ranked.run(20)
    assert (ranked.where("vip"), ranked.where("sneaky")) == (ONE_NODE, None)


def test_a_more_important_pod_takes_the_room_over(ranked: World) -> None:
    ranked.node()
    ranked.pod("heavy", cpu="2")
    ranked.run()
    ranked.pod("second", cpu="2", priorityClassName="middle")
    ranked.run()
    assert ranked.get("second")["status"]["nominatedNodeName"] == ONE_NODE
    ranked.pod("first", cpu="2", priorityClassName="high")
    ranked.run()
    assert ranked.get("first")["status"]["nominatedNodeName"] == ONE_NODE
    assert "nominatedNodeName" not in ranked.get("second")["status"]
    ranked.gone("heavy")
    ranked.run(20)
    assert (ranked.where("first"), ranked.where("second")) == (ONE_NODE, None)

"""Which pod is tried when: by priority, after a change that may help, after a pause, after five minutes."""

from __future__ import annotations

from typing import Any

from simcloud.kubernetes.api.errors import Conflict
from tests.simcloud.kubernetes.scheduler.world import ONE_NODE, ZONE, World


def tries(world: World, name: str) -> int:
    """How often a pod was refused: the first event, and what its series counts."""
    told = world.events("FailedScheduling", name)
    return sum((one.get("series") or {}).get("count", 1) for one in told)


def test_the_more_important_pod_comes_first(world: World) -> None:
    world.priority("high", 1000)
    for name in ("a", "b"):
        world.pod(f"plain-{name}", cpu="1500m")
    world.pod("vip", cpu="1500m", priorityClassName="high")
    world.run()
    world.node()
    world.run()
    assert world.where("vip") == ONE_NODE


def test_of_equals_the_older_one_comes_first(world: World) -> None:
    for name in ("first", "second"):
        world.pod(name, cpu="1500m")
        world.run(1)
    world.node()
    world.run()
    assert (world.where("first"), world.where("second")) == (ONE_NODE, None)


def test_a_gated_pod_waits_for_its_gate(world: World) -> None:
    world.node()
    world.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    world.run()
    (condition,) = world.get("gated")["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == (
        "SchedulingGated",
        "Scheduling is blocked due to non-empty scheduling gates",
    )
    assert world.events("FailedScheduling") == []
    world.client.edit(world.get("gated"), lambda pod: pod["spec"].pop("schedulingGates"))
    world.run()
    assert world.where("gated") == ONE_NODE


def test_changes_that_cannot_help_wake_nobody(world: World) -> None:
    world.node(labels={ZONE: "x"})
    world.pod("picky", nodeSelector={"disk": "ssd"})
    world.run(30)
    world.pod("passer-by")
    world.run()
    world.gone("passer-by")
    world.cordon(ONE_NODE)
    world.cordon(ONE_NODE, False)
    world.node("plain")
    world.run(30)
    assert tries(world, "picky") == 1
    world.node("fitting", labels={"disk": "ssd"})
    world.run()
    assert world.where("picky") == "fitting"


def test_a_pod_that_is_too_large_is_tried_when_one_goes_and_not_when_one_comes(world: World) -> None:
    world.node()
    world.pod("big", cpu="64")
    world.run(30)
    world.pod("other")
    world.run(30)
    assert tries(world, "big") == 1
    world.gone("other")
    world.run(30)
    assert tries(world, "big") == 2
    world.node("small")
    world.run(30)
    assert tries(world, "big") == 2
    world.node("large", cpu="128")
    world.run()
    assert world.where("big") == "large"


def test_a_full_node_helps_when_it_grows_and_not_when_it_is_labelled(world: World) -> None:
    world.node()
    world.pod("first", cpu="2")
    world.pod("second", cpu="1")
    world.run(30)
    node = world.client.get("nodes", "", ONE_NODE)
    assert node is not None
    node = world.client.patch(node, {"metadata": {"labels": {"a": "b"}}})
    world.run(30)
    assert tries(world, "second") == 1
    world.client.patch(node, {"status": {"allocatable": {"cpu": "4"}, "capacity": {"cpu": "4"}}}, "status")
    world.run()
    assert world.where("second") == ONE_NODE


def test_a_toleration_that_a_pod_gets(world: World) -> None:
    world.node(taints=[{"key": "k", "effect": "NoSchedule"}])
    world.pod("p")
    world.run()
    assert world.where("p") is None
    more = {"key": "k", "operator": "Exists"}
    world.client.edit(world.get("p"), lambda pod: pod["spec"]["tolerations"].append(more))
    world.run()
    assert world.where("p") == ONE_NODE


def test_an_idle_scheduler_tries_at_once_and_a_busy_one_lets_pods_cool_down(world: World) -> None:
    world.node()
    for number in range(3):
        world.pod(f"filler-{number}", cpu="100m")
    world.pod("big", cpu="64")
    world.run(0.5)
    world.gone("filler-0")
    world.run(0.1)
    # Refused half a second ago, but nobody else waits.
    assert tries(world, "big") == 2
    for number in range(100):
        world.pod(f"more-{number}", cpu="1m")
    world.gone("filler-1")
    world.run(0.1)
    assert tries(world, "big") == 2
    world.run(2)
    assert tries(world, "big") == 3


def test_whoever_waits_for_five_minutes_is_tried_anyway(world: World) -> None:
    world.node()
    world.pod("picky", nodeSelector={"disk": "ssd"})
    world.run(299)
    assert tries(world, "picky") == 1
    world.run(45)
    assert tries(world, "picky") == 2


def test_a_binding_that_is_refused_is_tried_again(world: World) -> None:
    refusals: list[Any] = []
    world.node()
    original = world.api.subresource

    def refuse(*arguments: Any, **more: Any) -> Any:
        if not refusals and "binding" in arguments:
            refusals.append(arguments)
            raise Conflict(arguments[1], "p", "somebody was faster")
        return original(*arguments, **more)

    world.api.subresource = refuse
    world.pod("p")
    world.run(0.5)
    (condition,) = world.get("p")["status"]["conditions"]
    assert condition["reason"] == "SchedulerError"
    assert condition["message"].startswith('binding rejected: running Bind plugin "DefaultBinder": ')
    world.run(3)
    assert world.where("p") == ONE_NODE

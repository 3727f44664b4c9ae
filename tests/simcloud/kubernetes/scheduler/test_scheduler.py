"""The scheduler as an operator sees it: a pod gets its node, and the API tells so."""

from __future__ import annotations

from tests.simcloud.kubernetes.scheduler.world import ONE_NODE, World


def test_a_pod_gets_its_node(world: World) -> None:
    world.node()
    world.pod("ok")
    world.run()
    assert world.where("ok") == ONE_NODE
    (event,) = world.events("Scheduled")
    assert event["message"] == "Successfully assigned lab/ok to kind-control-plane"
    assert event["action"] == "Binding"
    assert event["reportingInstance"] == "default-scheduler-kind-control-plane"


def test_a_pod_of_another_scheduler_is_left_alone(world: World) -> None:
    world.node()
    world.pod("other", schedulerName="my-scheduler")
    world.run(400)
    assert world.where("other") is None
    assert "conditions" not in world.get("other")["status"]
    assert world.events("FailedScheduling") == []


def test_a_cluster_without_nodes_says_so_and_takes_the_pod_with_its_first_node(world: World) -> None:
    world.pod("early")
    world.run()
    assert world.why("early") == "no nodes available to schedule pods"
    world.node()
    world.run()
    assert world.where("early") == ONE_NODE


def test_binding_keeps_the_place_of_the_condition(world: World) -> None:
    world.pod("late")
    world.run()

    def ready(pod: dict[str, object]) -> None:
        status = pod["status"]
        assert isinstance(status, dict)
        status["conditions"].append({"type": "example.com/seen", "status": "True"})

    world.client.edit(world.get("late"), ready, "status")
    world.node()
    world.run()
    first, second = world.get("late")["status"]["conditions"]
    assert (first["type"], first["status"]) == ("PodScheduled", "True")
    assert "observedGeneration" not in first, "as recorded: the API server's own word observes none"
    assert "reason" not in first
    assert second["type"] == "example.com/seen"


def test_repeated_refusals_become_a_series(world: World) -> None:
    world.node()
    world.node("other", unneeded="1")
    for number in range(3):
        world.pod(f"filler-{number}", cpu="1")
    world.pod("big", cpu="64")
    world.run()
    for number in range(3):
        world.gone(f"filler-{number}")
        world.run(20)
    told = world.events("FailedScheduling", "big")
    # The condition's first write gives the pod a new version; what is said of that is one series.
    assert [(one.get("series") or {}).get("count") for one in told] == [None, 2]


def test_the_same_seed_places_pods_the_same() -> None:
    def places() -> list[str | None]:
        world = World(seed=7)
        for number in range(4):
            world.node(f"n{number}")
        for number in range(16):
            world.pod(f"p{number:02}", cpu="100m")
        world.run()
        return [world.where(f"p{number:02}") for number in range(16)]

    first = places()
    assert first == places()
    assert [first.count(f"n{number}") for number in range(4)] == [4, 4, 4, 4]

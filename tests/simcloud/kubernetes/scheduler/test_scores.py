"""Which of the nodes that would do is chosen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simcloud.kubernetes.scheduler.world import HOST, ZONE, World

MIB = 1024 * 1024


def test_the_emptier_node_is_better(world: World) -> None:
    world.node("full")
    world.pod("load", cpu="1")
    world.run()
    world.node("empty")
    world.pod("p", cpu="100m")
    world.run()
    assert world.where("p") == "empty"


def test_balance_decides_between_nodes_that_are_equally_empty() -> None:
    for seed in range(6):
        world = World(seed)
        # 60 % of cpu and 20 % of memory, against 40 % of each: the same mean.
        for name, cpu, memory in (("lopsided", "6", "2"), ("even", "4", "4")):
            world.node(name, cpu="10", memory="10")
            resources = {"requests": {"cpu": cpu, "memory": memory}}
            world.pod(f"load-{name}", nodeSelector={HOST: name}, containers=[container(resources)])
        world.run()
        resources = {"requests": {"cpu": "100m", "memory": "1"}}
        world.pod("p", containers=[container(resources)])
        world.run()
        assert world.where("p") == "even"


def container(resources: Any) -> dict[str, Any]:
    return {"name": "c", "image": "i", "resources": resources}


def test_a_node_that_has_the_image_is_better(world: World) -> None:
    for name in ("a", "b", "c"):
        images = {"registry.example/big:1": 3000 * MIB} if name == "b" else None
        world.node(name, images=images)
    for number in range(3):
        world.pod(f"p-{number}", image="registry.example/big:1")
    world.pod("untagged", image="registry.example/big")
    world.run()
    assert [world.where(f"p-{number}") for number in range(3)] == ["b", "b", "b"]
    assert world.where("untagged") in ("a", "c")


def test_a_small_image_is_no_reason(world: World) -> None:
    world.node("a", images={"i:1": 20 * MIB})
    world.node("b")
    world.pod("load", nodeSelector={HOST: "a"}, cpu="100m")
    world.run()
    world.pod("p", image="i:1")
    world.run()
    assert world.where("p") == "b"


def test_a_taint_that_is_only_to_be_avoided_is_avoided(world: World) -> None:
    world.node("soft", taints=[{"key": "k", "effect": "PreferNoSchedule"}])
    world.node("full", cpu="1")
    world.pod("load", cpu="700m", nodeSelector={HOST: "full"})
    world.run()
    world.pod("p")
    world.pod("tolerant", tolerations=[{"key": "k", "operator": "Exists"}])
    world.run()
    assert (world.where("p"), world.where("tolerant")) == ("full", "soft")


def test_preferred_nodes_by_weight(world: World) -> None:
    world.node("ssd", labels={"disk": "ssd"})
    world.node("fast", labels={"cpu": "fast"})
    world.node("plain")

    def wish(weight: int, key: str, value: str) -> dict[str, Any]:
        expression = {"key": key, "operator": "In", "values": [value]}
        return {"weight": weight, "preference": {"matchExpressions": [expression]}}

    wishes = [wish(30, "disk", "ssd"), wish(60, "cpu", "fast")]
    preferred = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wishes}}
    world.pod("p", affinity=preferred)
    world.run()
    assert world.where("p") == "fast"


def company(side: str, app: str, kind: str = "preferred") -> dict[str, Any]:
    rule = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOST}
    if kind == "required":
        return {side: {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}
    return {
        side: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": rule}]}
    }


@pytest.mark.parametrize(("side", "place"), [("podAffinity", "a"), ("podAntiAffinity", "b")])
def test_company_that_a_pod_prefers(world: World, side: str, place: str) -> None:
    world.node("a")
    world.node("b")
    world.pod("cache", nodeSelector={HOST: "a"})
    world.pod("other", nodeSelector={HOST: "b"})
    world.run()
    world.pod("web", affinity=company(side, "cache"))
    world.run()
    assert world.where("web") == place


@pytest.mark.parametrize(
    ("rules", "place"),
    [
        (company("podAffinity", "web"), "a"),
        (company("podAntiAffinity", "web"), "b"),
    ],
)
def test_pods_that_are_there_have_wishes_too(world: World, rules: dict[str, Any], place: str) -> None:
    world.node("a")
    world.node("b")
    world.pod("host", nodeSelector={HOST: "a"}, affinity=rules)
    world.pod("plain", nodeSelector={HOST: "b"})
    world.run()
    world.pod("web")
    world.run()
    assert world.where("web") == place


def test_a_pod_is_liked_where_one_that_needs_it_is(world: World) -> None:
    world.node("a")
    world.node("b")
    world.pod("db-0", nodeSelector={HOST: "a"})
    world.run()
    world.pod("web", affinity=company("podAffinity", "db", "required"))
    world.pod("plain", nodeSelector={HOST: "b"})
    world.pod("more", nodeSelector={HOST: "b"})
    world.run()
    world.pod("db-1")
    world.run()
    assert world.where("db-1") == "a"


def replica_set(world: World, app: str) -> dict[str, Any]:
    labels = {"app": app}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return world.client.create(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": app, "namespace": "lab"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
    )


def test_pods_of_one_controller_stand_apart_even_where_one_node_is_emptier(world: World) -> None:
    for name in ("a", "b", "c"):
        world.node(name, cpu="64" if name == "a" else "8", memory="64Gi")
    owner = replica_set(world, "web")
    for number in range(6):
        world.pod(f"web-{number}", cpu="500m", owner=owner)
    world.run()
    places = [world.where(f"web-{number}") for number in range(6)]
    assert [places.count(name) for name in ("a", "b", "c")] == [2, 2, 2]


def test_pods_behind_one_service_stand_apart_over_zones(world: World) -> None:
    for number in range(4):
        world.node(f"n{number}", labels={ZONE: "x" if number < 3 else "y"})
    world.client.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": "lab"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
        }
    )
    world.pod("web-0", nodeSelector={HOST: "n0"})
    world.run()
    world.pod("web-1")
    world.run()
    assert world.where("web-1") == "n3"


def test_constraints_that_need_not_hold_are_met_as_well_as_can_be(world: World) -> None:
    world.node("x", labels={ZONE: "x"})
    world.node("y", labels={ZONE: "y"}, cpu="1")
    soft = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    for number in range(4):
        world.pod(f"web-{number}", cpu="400m", topologySpreadConstraints=[soft])
        world.run(1)
    places = [world.where(f"web-{number}") for number in range(4)]
    assert (places.count("x"), places.count("y")) == (2, 2)
    world.pod("web-4", cpu="400m", topologySpreadConstraints=[soft])
    world.run()
    assert world.where("web-4") == "x"

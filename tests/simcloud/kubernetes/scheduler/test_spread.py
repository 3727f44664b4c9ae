"""PodTopologySpread as a filter: pods evenly over the values of a label."""

from __future__ import annotations

from typing import Any

from tests.simcloud.kubernetes.scheduler.world import HOST, ZONE, World, no_room

SENTENCE = "node(s) didn't match pod topology spread constraints"


def constraint(app: str, key: str = ZONE, **more: Any) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **more,
    }


def zones(world: World, *names: str) -> None:
    for number, zone in enumerate(names):
        world.node(f"{zone}{number}", labels={ZONE: zone})


def counts(world: World, app: str, number: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in range(number):
        node = world.where(f"{app}-{one}")
        if node:
            found[node[0]] = found.get(node[0], 0) + 1
    return found


def test_a_label_that_no_node_has_as_recorded(world: World) -> None:
    world.node()
    world.pod("tsc-0", topologySpreadConstraints=[constraint("tsc")])
    world.run()
    assert world.why("tsc-0") == no_room(1, f"1 {SENTENCE} (missing required label)", not_helpful=1)


def test_pods_stand_evenly_over_zones_of_unequal_size(world: World) -> None:
    zones(world, "x", "x", "x", "y")
    for number in range(6):
        world.pod(f"web-{number}", topologySpreadConstraints=[constraint("web")])
    world.run()
    assert counts(world, "web", 6) == {"x": 3, "y": 3}


def test_a_larger_skew_is_let_be(world: World) -> None:
    zones(world, "x", "y")
    world.cordon("y1")
    for number in range(3):
        world.pod(f"web-{number}", topologySpreadConstraints=[constraint("web", maxSkew=2)])
    world.run()
    assert counts(world, "web", 3) == {"x": 2}
    waiting = next(f"web-{number}" for number in range(3) if world.where(f"web-{number}") is None)
    reasons = f"1 {SENTENCE}, 1 node(s) were unschedulable"
    assert world.why(waiting) == no_room(2, reasons, no_victims=1, not_helpful=1)


def test_too_few_domains_count_as_an_empty_one(world: World) -> None:
    zones(world, "x", "y")
    for number in range(3):
        world.pod(f"web-{number}", topologySpreadConstraints=[constraint("web", minDomains=3)])
    world.run()
    assert counts(world, "web", 3) == {"x": 1, "y": 1}
    zones(world, "z")
    world.run()
    assert counts(world, "web", 3) == {"x": 1, "y": 1, "z": 1}


def test_tainted_nodes_count_unless_the_constraint_honours_taints(world: World) -> None:
    zones(world, "x")
    taint = {"key": "k", "effect": "NoSchedule"}
    world.node("y", labels={ZONE: "y"}, taints=[taint])
    for number in range(2):
        world.pod(f"strict-{number}", topologySpreadConstraints=[constraint("strict")])
        honours = constraint("mild", nodeTaintsPolicy="Honor")
        world.pod(f"mild-{number}", topologySpreadConstraints=[honours])
    world.run()
    assert counts(world, "strict", 2) == {"x": 1}
    assert counts(world, "mild", 2) == {"x": 2}


def test_nodes_that_the_pod_does_not_select_count_only_if_it_says_so(world: World) -> None:
    zones(world, "x", "y")
    only = {HOST: "x0"}
    for number in range(2):
        world.pod(f"own-{number}", nodeSelector=only, topologySpreadConstraints=[constraint("own")])
        all_nodes = constraint("all", nodeAffinityPolicy="Ignore")
        world.pod(f"all-{number}", nodeSelector=only, topologySpreadConstraints=[all_nodes])
    world.run()
    assert counts(world, "own", 2) == {"x": 2}
    assert counts(world, "all", 2) == {"x": 1}


def test_pods_of_an_older_template_do_not_count_with_match_label_keys(world: World) -> None:
    zones(world, "x", "y")
    by_hash = constraint("web", matchLabelKeys=["hash"])
    world.pod("old", labels={"app": "web", "hash": "1"}, nodeSelector={HOST: "x0"})
    world.run()
    for number in range(2):
        labels = {"app": "web", "hash": "2"}
        world.pod(f"web-{number}", labels=labels, topologySpreadConstraints=[by_hash])
    world.run()
    assert counts(world, "web", 2) == {"x": 1, "y": 1}


def test_a_pod_that_leaves_the_fuller_zone_lets_one_in(world: World) -> None:
    zones(world, "x", "y")
    world.cordon("y1")
    for number in range(2):
        world.pod(f"web-{number}", topologySpreadConstraints=[constraint("web")])
    world.run()
    placed = next(f"web-{number}" for number in range(2) if world.where(f"web-{number}"))
    other = "web-1" if placed == "web-0" else "web-0"
    assert world.where(other) is None
    world.gone(placed)
    world.run()
    assert world.where(other) == "x0"

"""InterPodAffinity as a filter: company that must be, company that must not be, seen from both sides."""

from __future__ import annotations

from typing import Any

from tests.simcloud.kubernetes.scheduler.world import HOST, ONE_NODE, ZONE, World, no_room

APART = "node(s) didn't match pod affinity rules"
TOGETHER = "node(s) didn't match pod anti-affinity rules"
UNWELCOME = "node(s) didn't satisfy existing pods anti-affinity rules"


def term(app: str, key: str = HOST, **more: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key, **more}


def rules(side: str, *terms: Any) -> dict[str, Any]:
    return {side: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def test_one_pod_on_a_node_as_recorded(world: World) -> None:
    world.node()
    rule = rules("podAntiAffinity", term("spread"))
    world.pod("spread-0", affinity=rule)
    world.pod("spread-1", affinity=rule)
    world.run()
    assert world.why("spread-1") == no_room(1, f"1 {TOGETHER}", no_victims=1)
    world.gone("spread-0")
    world.run()
    assert world.where("spread-1") == ONE_NODE


def test_a_pod_that_is_there_keeps_others_away(world: World) -> None:
    world.node("a")
    world.pod("hermit", affinity=rules("podAntiAffinity", term("web")))
    world.run()
    world.pod("web")
    world.pod("db")
    world.run()
    assert world.why("web") == no_room(1, f"1 {UNWELCOME}", no_victims=1)
    assert world.where("db") == "a"


def test_company_that_is_wanted(world: World) -> None:
    world.node("a", labels={ZONE: "one"})
    world.node("b", labels={ZONE: "one"})
    world.node("c", labels={ZONE: "two"})
    world.node("d")
    world.pod("web", affinity=rules("podAffinity", term("db", ZONE)))
    world.run()
    assert world.why("web") == no_room(4, f"4 {APART}", not_helpful=4)
    world.pod("db", nodeSelector={HOST: "c"})
    world.run()
    assert world.where("web") == "c"


def test_the_first_of_its_kind_may_come(world: World) -> None:
    world.node("a", labels={ZONE: "one"})
    world.node("b", labels={ZONE: "two"})
    rule = rules("podAffinity", term("club", ZONE))
    for number in range(4):
        world.pod(f"club-{number}", affinity=rule)
    world.run()
    assert len({world.where(f"club-{number}") for number in range(4)} - {None}) == 1


def test_one_pod_must_meet_all_rules(world: World) -> None:
    world.node()
    world.pod("one", labels={"app": "x"})
    world.pod("two", labels={"tier": "y"})
    other = {"labelSelector": {"matchLabels": {"tier": "y"}}, "topologyKey": HOST}
    world.pod("both", affinity=rules("podAffinity", term("x"), other))
    world.run()
    assert world.why("both") == no_room(1, f"1 {APART}", not_helpful=1)
    world.pod("three", labels={"app": "x", "tier": "y"})
    world.run()
    assert world.where("both") == ONE_NODE


def test_rules_speak_of_the_own_namespace_unless_they_say_otherwise(world: World) -> None:
    world.node()
    labels = {"team": "core"}
    world.client.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "else", "labels": labels}}
    )
    world.client.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "db", "namespace": "else", "labels": {"app": "db"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
    )
    world.run()
    world.pod("blind", affinity=rules("podAffinity", term("db")))
    world.pod("named", affinity=rules("podAffinity", term("db", namespaces=["else"])))
    chosen = {"matchLabels": labels}
    world.pod("chosen", affinity=rules("podAffinity", term("db", namespaceSelector=chosen)))
    world.pod("everywhere", affinity=rules("podAffinity", term("db", namespaceSelector={})))
    world.run()
    assert world.where("blind") is None
    assert [world.where(name) for name in ("named", "chosen", "everywhere")] == [ONE_NODE] * 3


def test_a_pod_that_gets_a_label_lets_another_in(world: World) -> None:
    world.node()
    world.pod("plain")
    world.pod("shy", affinity=rules("podAffinity", term("friend")))
    world.run()
    assert world.where("shy") is None
    world.client.patch(world.get("plain"), {"metadata": {"labels": {"app": "friend"}}})
    world.run()
    assert world.where("shy") == ONE_NODE


def test_a_more_important_pod_makes_room_from_company_it_does_not_want(world: World) -> None:
    world.node()
    world.priority("high", 1000)
    world.pod("noise")
    world.run()
    world.pod("vip", affinity=rules("podAntiAffinity", term("noise")), priorityClassName="high")
    world.run()
    assert world.get("vip")["status"]["nominatedNodeName"] == ONE_NODE
    assert "deletionTimestamp" in world.get("noise")["metadata"]
    world.gone("noise")
    world.run()
    assert world.where("vip") == ONE_NODE

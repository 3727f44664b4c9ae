"""Garbage collection: what loses all its owners goes, and nothing else does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World

__all__ = ["frozen_objects"]

POLICIES = ("Background", "Foreground", "Orphan")


def world() -> World:
    return World(["garbage-collector-controller"], stand_in=False)


def owner(obj: Object, block: bool = True) -> Object:
    metadata = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "blockOwnerDeletion": block,
    }


def config(place: World, name: str, *owners: Object, **metadata: Any) -> Object:
    told = {"name": name, "namespace": "demo", "ownerReferences": list(owners), **metadata}
    return place.client.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": told})


def names(place: World) -> list[str]:
    return [one["metadata"]["name"] for one in place.named("configmaps/*")]


def settle(place: World) -> None:
    place.kernel.run_for(5.0)


def test_dependents_of_a_gone_owner_go_down_to_the_last() -> None:
    place = world()
    root = config(place, "root")
    child = config(place, "child", owner(root))
    config(place, "grandchild", owner(child))
    config(place, "stranger")
    place.client.delete(root)
    settle(place)
    assert names(place) == ["stranger"]


def test_one_living_owner_is_enough_and_the_dead_one_is_no_longer_named() -> None:
    place = world()
    first, second = config(place, "a"), config(place, "b")
    config(place, "shared", owner(first), owner(second))
    place.client.delete(first)
    settle(place)
    (shared,) = place.named("configmaps/shared")
    assert [one["name"] for one in shared["metadata"]["ownerReferences"]] == ["b"]


def test_in_foreground_the_owner_goes_last() -> None:
    place = world()
    root = config(place, "root")
    config(place, "held", owner(root), finalizers=["example.com/hold"])
    config(place, "free", owner(root))
    config(place, "loose", owner(root, block=False), finalizers=["example.com/hold"])
    place.client.delete(root, propagation="Foreground")
    settle(place)
    assert names(place) == ["held", "loose", "root"]
    (held,) = place.named("configmaps/held")
    place.client.edit(held, lambda one: one["metadata"].pop("finalizers"))
    settle(place)
    assert names(place) == ["loose"]


def test_orphans_stay_without_an_owner() -> None:
    place = world()
    root = config(place, "root")
    config(place, "child", owner(root))
    place.client.delete(root, propagation="Orphan")
    settle(place)
    (child,) = place.named("configmaps/*")
    assert child["metadata"]["name"] == "child"
    assert not child["metadata"].get("ownerReferences")


def test_what_names_an_owner_that_never_was_goes() -> None:
    place = world()
    real = config(place, "real")
    config(place, "fine", owner(real))
    config(place, "lost", {**owner(real), "name": "nobody", "uid": "11111111-2222-4333-8444-555555555555"})
    config(place, "misled", {**owner(real), "uid": "11111111-2222-4333-8444-555555555555"})
    settle(place)
    assert names(place) == ["fine", "real"]


def test_an_owner_in_another_namespace_counts_as_absent() -> None:
    place = world()
    place.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    elsewhere = place.client.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "far", "namespace": "other"}}
    )
    config(place, "child", owner(elsewhere))
    settle(place)
    assert names(place) == []
    uid = elsewhere["metadata"]["uid"]
    told = f"ownerRef [v1/ConfigMap, namespace: demo, name: far, uid: {uid}] does not exist in namespace"
    assert place.events() == [f'Warning OwnerRefInvalidNamespace ConfigMap/child: {told} "demo"']


def test_a_cluster_wide_object_is_never_collected_for_a_namespaced_owner() -> None:
    place = world()
    root = config(place, "root")
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "wide", "ownerReferences": [owner(root)]},
    }
    place.client.create(role)
    place.client.delete(root)
    settle(place)
    assert place.named("clusterroles.rbac.authorization.k8s.io/wide")


def test_custom_objects_are_collected_too() -> None:
    place = world()
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    place.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "boxes.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "boxes", "kind": "Box", "singular": "box"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
    )
    box = {"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "b", "namespace": "demo"}}
    made = place.client.create(box)
    config(place, "in-box", owner(made))
    root = config(place, "root")
    owned = {**box, "metadata": {"name": "owned", "namespace": "demo", "ownerReferences": [owner(root)]}}
    place.client.create(owned)
    place.client.delete(made)
    place.client.delete(root)
    settle(place)
    assert names(place) == []
    assert place.named("boxes.example.com/*") == []


def test_owners_that_wait_for_each_other_do_not_wait_for_ever() -> None:
    place = world()
    first = config(place, "a")
    second = config(place, "b", owner(first))
    place.client.edit(first, lambda one: one["metadata"].update(ownerReferences=[owner(second)]))
    place.client.delete(place.named("configmaps/a")[0], propagation="Foreground")
    settle(place)
    assert names(place) == []


Graph = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """For every object the earlier ones that own it."""
    size = draw(st.integers(1, 8))
    return [
        sorted(draw(st.sets(st.integers(0, number - 1), max_size=3))) if number else []
        for number in range(size)
    ]


def expected(graph: Graph, deletions: list[tuple[int, str]]) -> list[str]:
    """What is left, by the rules alone."""
    owners = {number: set(of) for number, of in enumerate(graph)}
    for number, policy in deletions:
        if number not in owners:
            continue
        del owners[number]
        if policy == "Orphan":
            for left in owners.values():
                left.discard(number)
        while True:
            doomed = [one for one, of in owners.items() if of and not of & owners.keys()]
            if not doomed:
                break
            for one in doomed:
                del owners[one]
        for left in owners.values():
            left.intersection_update(owners)
    return sorted(f"c{number}" for number in owners)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(graphs(), st.lists(st.tuples(st.integers(0, 7), st.sampled_from(POLICIES)), max_size=4))
def test_after_the_dust_settles_only_what_should_is_gone(
    graph: Graph, deletions: list[tuple[int, str]]
) -> None:
    place = world()
    made: list[Object] = []
    for number, owners in enumerate(graph):
        made.append(config(place, f"c{number}", *(owner(made[one], number % 3 > 0) for one in owners)))
    for number, policy in deletions:
        if number < len(made):
            place.client.delete(made[number], propagation=policy)
        settle(place)
    settle(place)
    assert names(place) == expected(graph, deletions)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    graphs(),
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from(POLICIES), st.floats(0, 0.02)), max_size=5),
)
def test_deletions_that_cross_leave_no_dependent_of_a_gone_owner(
    graph: Graph, deletions: list[tuple[int, str, float]]
) -> None:
    place = world()
    made: list[Object] = []
    for number, owners in enumerate(graph):
        made.append(config(place, f"c{number}", *(owner(made[one]) for one in owners)))
    touched: set[int] = set()
    for number, policy, pause_s in deletions:
        if number < len(made):
            touched.add(number)
            place.client.delete(made[number], propagation=policy)
            place.kernel.run_for(pause_s)
    settle(place)
    left = {one["metadata"]["uid"]: one for one in place.named("configmaps/*")}
    for one in left.values():
        references = one["metadata"].get("ownerReferences") or []
        assert not references or any(reference["uid"] in left for reference in references)
    for number, owners in enumerate(graph):
        if touched & set(owners):
            touched.add(number)
    kept = {f"c{number}" for number in range(len(graph)) if number not in touched}
    assert kept <= set(names(place))

"""The end of a namespace: in order, told in its conditions, and sure to come."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from tests.simcloud.kubernetes.api.conftest import frozen_objects
from tests.simcloud.kubernetes.controllers.test_cases import World
from tests.simcloud.kubernetes.controllers.test_job import job

__all__ = ["frozen_objects"]

LOOPS = ["namespace-controller", "garbage-collector-controller", "job-controller"]


def pod(name: str, grace_s: int, held: bool) -> Object:
    metadata: Object = {"name": name}
    if held:
        metadata["finalizers"] = ["example.com/hold"]
    containers = [{"name": "c", "image": "busybox:1.36"}]
    spec = {"terminationGracePeriodSeconds": grace_s, "containers": containers}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def config(name: str, held: bool = False) -> Object:
    metadata: Object = {"name": name}
    if held:
        metadata["finalizers"] = ["example.com/hold"]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def condition(world: World, kind: str) -> Object:
    (namespace,) = world.named("namespaces/demo")
    found: Object = next(one for one in namespace["status"]["conditions"] if one["type"] == kind)
    return found


def test_nothing_but_pods_goes_while_there_are_pods() -> None:
    world = World(LOOPS)
    world.create([pod("held", 30, held=True), config("settings")])
    world.kernel.run_for(2.0)
    world.delete("namespaces/demo")
    world.kernel.run_for(30.0)
    assert world.named("configmaps/settings")
    told = condition(world, "NamespaceContentRemaining")
    assert told["message"] == "Some resources are remaining: pods. has 1 resource instances"
    (held,) = world.named("pods/held")
    world.client.edit(held, lambda one: one["metadata"].pop("finalizers"))
    world.kernel.run_for(20.0)
    assert world.named("namespaces/demo") == []
    assert world.client.list("configmaps", "demo") == []


def test_five_seconds_pass_before_anything_goes() -> None:
    world = World(LOOPS)
    world.create(config("settings"))
    world.delete("namespaces/demo")
    world.kernel.run_for(4.9)
    assert world.named("configmaps/settings")
    world.kernel.run_for(0.2)
    assert world.named("namespaces/demo") == []


def test_a_finalizer_in_the_namespace_itself_keeps_it_but_not_its_contents() -> None:
    world = World(LOOPS)
    world.create(config("settings"))
    world.patch({"namespaces/demo": {"metadata": {"finalizers": ["example.com/hold"]}}}, "")
    world.delete("namespaces/demo")
    world.kernel.run_for(10.0)
    (namespace,) = world.named("namespaces/demo")
    assert world.named("configmaps/*") == []
    assert not namespace["spec"].get("finalizers")
    told = condition(world, "NamespaceFinalizersRemaining")
    assert (told["status"], told["reason"]) == ("False", "ContentHasNoFinalizers")


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    pods=st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=4),
    configs=st.lists(st.booleans(), max_size=3),
    jobs=st.integers(0, 2),
    released_s=st.floats(0, 90),
    policy=st.sampled_from(["", "Foreground", "Background"]),
)
def test_a_deleted_namespace_ends_once_nobody_holds_its_contents(
    pods: list[tuple[int, bool]], configs: list[bool], jobs: int, released_s: float, policy: str
) -> None:
    world = World(LOOPS)
    for number, (grace_s, held) in enumerate(pods):
        world.create(pod(f"p{number}", grace_s, held))
    for number, held in enumerate(configs):
        world.create(config(f"c{number}", held))
    for number in range(jobs):
        world.create(job(f"j{number}", parallelism=2))
    world.kernel.run_for(1.5)
    world.delete({"name": "namespaces/demo", "propagation": policy})
    world.kernel.run_for(released_s)
    while held_objects := [
        one
        for one in [*world.named("pods/*"), *world.named("configmaps/*")]
        if "example.com/hold" in (one["metadata"].get("finalizers") or ())
    ]:
        for one in held_objects:
            world.client.edit(
                one, lambda changed: changed["metadata"]["finalizers"].remove("example.com/hold")
            )
    world.kernel.run_for(240.0)
    assert world.named("namespaces/demo") == []
    for resource in world.api.catalogue:
        kept = world.api.storage_version(resource)
        assert not kept.namespaced or world.api.log.objects(*kept.key, "demo") == []

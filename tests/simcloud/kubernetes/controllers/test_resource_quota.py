"""Quotas: what is used is the sum of what is there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.quantity import milli
from tests.simcloud.kubernetes.controllers.test_cases import World, frozen_objects

__all__ = ["frozen_objects"]

STEPS = st.tuples(st.sampled_from(["add", "drop", "fail"]), st.integers(0, 5), st.integers(1, 2000))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_used_is_the_sum(steps: list[tuple[str, int, int]]) -> None:
    world = World(["resourcequota-controller"], stand_in=False)
    hard = {"pods": "100", "requests.cpu": "100", "count/pods": "100"}
    world.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}}
    )
    for verb, number, cpu in steps:
        name = f"pods/p{number}"
        if verb == "add" and not world.named(name):
            container = {"name": "a", "image": "a", "resources": {"requests": {"cpu": f"{cpu}m"}}}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{number}"}}
            world.create({**pod, "spec": {"containers": [container]}})
        elif verb == "drop" and world.named(name):
            world.delete({"name": name, "grace": 0})
        elif verb == "fail" and world.named(name):
            world.patch({name: {"status": {"phase": "Failed"}}}, "status")
        world.kernel.run_for(cpu / 100_000)
    world.kernel.run_for(1)
    pods = world.client.list("pods", "demo")
    live = [pod for pod in pods if pod["status"]["phase"] != "Failed"]
    used = world.some("resourcequotas/q")[0]["status"]["used"]
    assert (used["pods"], used["count/pods"]) == (str(len(live)), str(len(pods)))
    wanted = (milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]) for pod in live)
    assert milli(used["requests.cpu"]) == sum(wanted)


def test_priority_classes_are_scopes() -> None:
    world = World(["resourcequota-controller"], stand_in=False)
    world.client.create(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 9,
        }
    )
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    spec = {"hard": {"pods": "9"}, "scopeSelector": {"matchExpressions": [scope]}}
    containers = [{"name": "a", "image": "a"}]
    world.create(
        [
            {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": spec},
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "a"},
                "spec": {"priorityClassName": "high", "containers": containers},
            },
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "b"},
                "spec": {"containers": containers},
            },
        ]
    )
    world.kernel.run_for(1)
    assert world.some("resourcequotas/q")[0]["status"]["used"] == {"pods": "1"}

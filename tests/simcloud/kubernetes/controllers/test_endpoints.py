"""Endpoints and slices: as recorded, and always the ready pods of their Services in the end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.endpoints.endpoints import truncate
from tests.simcloud.kubernetes.controllers.test_cases import World, frozen_objects

__all__ = ["frozen_objects"]

BOTH = ["endpoint-controller", "endpointslice-controller"]


def pod(name: str, app: str, ip: str, ready: bool = True) -> Object:
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": "2026-11-15T00:00:05Z"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app}},
        "spec": {"nodeName": "kind-worker", "containers": [{"name": "a", "image": "a"}]},
        "status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": conditions},
    }


def service(name: str, **spec: Any) -> Object:
    ports = [{"name": "http", "port": 80}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": ports, **spec},
    }


def slices(world: World, name: str) -> list[Object]:
    found = world.client.list("endpointslices.discovery.k8s.io", "demo")
    return [one for one in found if one["metadata"]["labels"]["kubernetes.io/service-name"] == name]


def ready_of_slices(world: World, name: str) -> list[str]:
    return sorted(
        one["addresses"][0]
        for found in slices(world, name)
        for one in found["endpoints"] or ()
        if one["conditions"]["ready"]
    )


def ready_of_endpoints(world: World, name: str) -> list[str]:
    found = world.client.get("endpoints", "demo", name)
    assert found is not None
    return sorted(one["ip"] for subset in found.get("subsets") or () for one in subset.get("addresses") or ())


def test_objects_are_as_recorded() -> None:
    world = World(BOTH, stand_in=False)
    world.create([service("web"), pod("web-1", "web", "10.244.0.2"), pod("web-2", "web", "10.244.1.3")])
    world.kernel.run_for(1)
    found = world.client.get("endpoints", "demo", "web")
    assert found is not None
    assert sorted(found) == ["apiVersion", "kind", "metadata", "subsets"]
    assert sorted(found["subsets"][0]["addresses"][0]) == ["ip", "nodeName", "targetRef"]
    assert found["subsets"][0]["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]
    assert found["metadata"]["managedFields"][0]["manager"] == "kube-controller-manager"
    (piece,) = slices(world, "web")
    assert sorted(piece["endpoints"][0]) == ["addresses", "conditions", "nodeName", "targetRef"]
    made = world.some("services/web")[0]["metadata"]["creationTimestamp"]
    trigger = {"endpoints.kubernetes.io/last-change-trigger-time": made}
    assert piece["metadata"]["annotations"] == found["metadata"]["annotations"] == trigger


def test_the_empty_slice_becomes_the_first_full_one() -> None:
    world = World(BOTH, stand_in=False)
    world.create(service("web"))
    world.kernel.run_for(1)
    (empty,) = slices(world, "web")
    assert empty["endpoints"] is None
    world.create(pod("web-1", "web", "10.244.0.2"))
    world.kernel.run_for(1)
    (full,) = slices(world, "web")
    assert full["metadata"]["name"] == empty["metadata"]["name"]
    assert full["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]


def test_a_slice_holds_a_hundred_and_the_next_change_touches_one() -> None:
    world = World(BOTH, stand_in=False)
    world.create(service("web"))
    world.create([pod(f"web-{n}", "web", f"10.244.{n // 200}.{n % 200 + 1}") for n in range(230)])
    world.kernel.run_for(2)
    assert sorted(len(one["endpoints"]) for one in slices(world, "web")) == [30, 100, 100]
    before = {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in slices(world, "web")}
    world.create(pod("web-late", "web", "10.244.9.1"))
    world.kernel.run_for(1)
    after = {one["metadata"]["name"]: one["metadata"]["resourceVersion"] for one in slices(world, "web")}
    assert sum(before[name] != version for name, version in after.items()) == 1
    assert len(ready_of_endpoints(world, "web")) == 231


def test_a_pod_is_in_no_slice_before_its_node_is_there() -> None:
    world = World(BOTH, stand_in=False)
    lost = pod("web-1", "web", "10.244.0.2")
    lost["spec"]["nodeName"] = "late"
    world.create([service("web"), lost])
    world.kernel.run_for(1)
    assert ready_of_slices(world, "web") == []
    world.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "late"}})
    world.kernel.run_for(2)
    assert ready_of_slices(world, "web") == ["10.244.0.2"]


def test_endpoints_list_a_thousand_and_the_ready_ones_first() -> None:
    ready, waiting = ([{"ip": f"{kind}.{number}"} for number in range(800)] for kind in ("r", "w"))
    ports = [{"port": 80, "protocol": "TCP"}]
    (told,) = truncate([{"addresses": ready, "notReadyAddresses": waiting, "ports": ports}])
    assert (len(told["addresses"]), len(told["notReadyAddresses"]), told["ports"]) == (800, 200, ports)
    few = [{"addresses": ready, "ports": ports}]
    assert truncate(few) == few


def test_endpoints_go_with_their_service() -> None:
    world = World(BOTH, stand_in=False)
    world.create([service("web"), pod("web-1", "web", "10.244.0.2")])
    world.kernel.run_for(1)
    world.delete("services/web")
    world.kernel.run_for(1)
    assert world.client.list("endpoints", "demo") == []


def test_deleted_slices_and_endpoints_come_again() -> None:
    world = World(BOTH, stand_in=False)
    world.create([service("web"), pod("web-1", "web", "10.244.0.2")])
    world.kernel.run_for(1)
    world.delete("endpoints/web")
    world.delete("endpointslices.discovery.k8s.io/web-*")
    world.kernel.run_for(1)
    assert ready_of_slices(world, "web") == ready_of_endpoints(world, "web") == ["10.244.0.2"]


STEPS = st.tuples(
    st.sampled_from(["add", "drop", "ready", "unready", "relabel", "fail"]),
    st.integers(0, 5),
    st.sampled_from(["web", "api"]),
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_endpoints_are_the_ready_pods_once_the_dust_settles(steps: list[tuple[str, int, str]]) -> None:
    world = World(BOTH, stand_in=False)
    world.create([service("web"), service("api")])
    for verb, number, app in steps:
        name = f"pods/p-{number}"
        found = world.named(name)
        if verb == "add" and not found:
            world.create(pod(f"p-{number}", app, f"10.244.0.{number + 1}"))
        elif verb == "drop" and found:
            world.delete({"name": name, "grace": 0})
        elif verb in ("ready", "unready") and found:
            ready = {"type": "Ready", "status": str(verb == "ready")}
            world.patch({name: {"status": {"conditions": [ready]}}}, "status")
        elif verb == "relabel" and found:
            world.patch({name: {"metadata": {"labels": {"app": app}}}}, "")
        elif verb == "fail" and found:
            world.patch({name: {"status": {"phase": "Failed"}}}, "status")
        world.kernel.run_for(number / 500)
    world.kernel.run_for(2)
    for app in ("web", "api"):
        wanted = sorted(
            one["status"]["podIP"]
            for one in world.client.list("pods", "demo")
            if one["metadata"]["labels"]["app"] == app
            and one["status"]["phase"] == "Running"
            and one["status"]["conditions"][0]["status"] == "True"
        )
        assert ready_of_slices(world, app) == ready_of_endpoints(world, app) == wanted

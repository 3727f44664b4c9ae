"""Budgets: evictions are counted until the pods are seen to go, and nothing is allowed when nothing is known."""

from __future__ import annotations

from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.controllers.disruption import go_selector
from tests.simcloud.kubernetes.controllers.test_cases import World, event_line, frozen_objects

__all__ = ["frozen_objects"]

CHOICE = {"matchLabels": {"app": "web"}}


def budget(**spec: object) -> Object:
    metadata = {"name": "web"}
    spec = {"selector": CHOICE, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec}


def pod(name: str, owner: Object | None = None) -> Object:
    metadata: Object = {"name": name, "labels": {"app": "web"}}
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    spec = {"containers": [{"name": "a", "image": "a"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def status(world: World) -> Object:
    found: Object = world.some("poddisruptionbudgets.policy/web")[0]["status"]
    return found


def events(world: World) -> list[str]:
    return [event_line(one) for one in world.oldest_first(world.client.list("events", "demo"))]


def test_as_recorded_all_chosen_pods_count_and_the_ready_ones_are_healthy() -> None:
    """Recorded: minAvailable 2 with two pods ready of four gives Allowed 0, Current 2, Desired 2, Total 4."""
    world = World(["disruption-controller"])
    world.create([pod(f"web-{number}") for number in range(4)])
    world.kernel.run_for(1)
    world.tell("pods/web-0", "Running", False)
    world.tell("pods/web-1", "Running", False)
    world.create(budget(minAvailable=2))
    world.kernel.run_for(1)
    seen = status(world)
    assert (
        seen["disruptionsAllowed"],
        seen["currentHealthy"],
        seen["desiredHealthy"],
        seen["expectedPods"],
    ) == (
        0,
        2,
        2,
        4,
    )
    assert events(world) == []


def test_an_eviction_is_counted_until_the_pod_goes() -> None:
    world = World(["disruption-controller"])
    world.create([pod("web-0"), pod("web-1"), budget(minAvailable=1)])
    world.kernel.run_for(1)
    assert status(world)["disruptionsAllowed"] == 1
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-0"}}
    pods = world.client.resource("pods")
    world.api.subresource("create", pods, "demo", "web-0", "eviction", eviction)
    assert status(world)["disruptionsAllowed"] == 0
    world.kernel.run_for(0.1)
    assert "disruptedPods" not in status(world)
    world.kernel.run_for(2)
    assert (status(world)["expectedPods"], status(world)["disruptionsAllowed"]) == (1, 0)


def test_a_budget_without_pods_says_so() -> None:
    world = World(["disruption-controller"])
    world.create(budget(minAvailable=1))
    world.kernel.run_for(1)
    assert events(world) == ["Normal NoPods PodDisruptionBudget/web: No matching pods found (x2)"]


def test_a_share_of_an_unknown_owner_cannot_be_told() -> None:
    world = World(["disruption-controller"])
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "1", "controller": True}
    world.create([pod("web-0", owner), budget(maxUnavailable="50%")])
    world.kernel.run_for(1)
    (condition,) = status(world)["conditions"]
    assert (condition["status"], condition["reason"]) == ("False", "SyncFailed")
    assert condition["message"] == 'found no controllers for pod "web-0"'


def test_unmanaged_pods_are_told_of() -> None:
    world = World(["disruption-controller"])
    world.create([pod("web-0"), budget(maxUnavailable=1)])
    world.kernel.run_for(1)
    assert events(world)[0].startswith(
        "Warning UnmanagedPods PodDisruptionBudget/web: Pods selected by this PodDisruptionBudget (selector: "
        "&LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{},})"
    )


def test_selectors_print_as_go_prints_them() -> None:
    expression = {"key": "a", "operator": "In", "values": ["x", "y"]}
    assert go_selector({"matchExpressions": [expression]}) == (
        "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:a,Operator:In,Values:[x y],},},}"
    )


def test_a_pod_that_is_not_deleted_is_no_target_any_more() -> None:
    world = World(["stale-disruption-controller"])
    world.create(pod("web-0"))
    world.kernel.run_for(1)
    target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    target["lastTransitionTime"] = world.api.timestamp()
    world.patch({"pods/web-0": {"status": {"conditions": [target]}}}, "status")
    world.kernel.run_for(119)
    assert world.some("pods/web-0")[0]["status"]["conditions"][0]["status"] == "True"
    world.kernel.run_for(2)
    assert world.some("pods/web-0")[0]["status"]["conditions"][0]["status"] == "False"

"""Quotas are charged, written and enforced."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from simcloud.kubernetes.api import quantity
from simcloud.kubernetes.api.errors import ApiError
from simcloud.kubernetes.api.objects import copy
from simcloud.sim import Kernel
from tests.simcloud.kubernetes.api.admission.conftest import World, pod
from tests.simcloud.kubernetes.api.conftest import demo_cluster


def asking(name: str, cpu: str, memory: str = "1Gi", limits: dict[str, str] | None = None) -> dict[str, Any]:
    resources = {"requests": {"cpu": cpu, "memory": memory}, **({"limits": limits} if limits else {})}
    return pod(name, {"name": "c", "resources": resources})


def used(world: World, name: str = "q") -> dict[str, str]:
    found: dict[str, str] = world.get("resourcequotas", name)["status"]["used"]
    return found


def test_pods_are_counted_and_refused(world: World) -> None:
    world.quota(hard={"pods": "1"})
    world.create("pods", pod("a"))
    assert used(world) == {"pods": "1"}
    refused = world.refusal("pods", pod("b"))
    assert refused.message == (
        'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
    )
    assert refused.status()["details"] == {"name": "b", "kind": "pods"}


def test_amounts_keep_their_suffixes(world: World) -> None:
    world.quota(hard={"requests.cpu": "1", "requests.memory": "2Gi"})
    world.create("pods", asking("a", "600m"))
    assert used(world) == {"requests.cpu": "600m", "requests.memory": "1Gi"}
    assert world.refusal("pods", asking("b", "500m", "1536Mi")).message == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m,requests.memory=1536Mi, '
        "used: requests.cpu=600m,requests.memory=1Gi, limited: requests.cpu=1,requests.memory=2Gi"
    )


def test_what_is_measured_must_be_said(world: World) -> None:
    world.quota(hard={"limits.cpu": "1", "limits.memory": "1Gi", "requests.cpu": "1"})
    refused = world.refusal(
        "pods", pod("p", {"name": "a"}, {"name": "b", "resources": {"limits": {"cpu": "1"}}})
    )
    assert refused.message == (
        'pods "p" is forbidden: failed quota: q: must specify limits.cpu for: a; '
        "limits.memory for: a,b; requests.cpu for: a"
    )


def test_a_quota_without_status_is_not_in_force_and_half_of_one_refuses(world: World) -> None:
    made = copy(world.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}))
    world.create("pods", pod("early"))
    made["status"] = {"hard": {"pods": "0"}}
    world.update(made, "status")
    assert world.refusal("pods", pod("late")).message == (
        'pods "late" is forbidden: status unknown for quota: q, resources: pods'
    )


def test_a_dry_run_is_checked_and_not_charged(world: World) -> None:
    world.quota(hard={"pods": "1"})
    world.create("pods", pod("a"), dry_run=True)
    assert used(world) == {"pods": "0"}


def test_services_and_counts(world: World) -> None:
    world.quota(hard={"services.nodeports": "1", "services": "5", "count/configmaps": "1", "secrets": "0"})
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    data = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": ports}}
    assert world.refusal("services", data).message == (
        'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, '
        "used: services.nodeports=0, limited: services.nodeports=1"
    )
    world.create("configmaps", {"metadata": {"name": "a"}})
    assert "count/configmaps=1" in world.refusal("configmaps", {"metadata": {"name": "b"}}).message
    assert "requested: secrets=1" in world.refusal("secrets", {"metadata": {"name": "s"}}).message
    plain = world.create("services", {"metadata": {"name": "s"}, "spec": {"ports": ports[:1]}})
    grown = copy(plain)
    grown["spec"]["type"] = "NodePort"
    world.update(grown)
    assert used(world)["services.nodeports"] == "1"
    assert used(world)["services"] == "1"


def test_claims_by_class(world: World) -> None:
    name = "gold.storageclass.storage.k8s.io/requests.storage"
    world.quota(hard={name: "10Gi", "persistentvolumeclaims": "2"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "6Gi"}}}
    gold = {**spec, "storageClassName": "gold"}
    world.create("persistentvolumeclaims", {"metadata": {"name": "a"}, "spec": gold})
    assert used(world) == {name: "6Gi", "persistentvolumeclaims": "1"}
    assert (
        f"used: {name}=6Gi"
        in world.refusal("persistentvolumeclaims", {"metadata": {"name": "b"}, "spec": gold}).message
    )
    world.create(
        "persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {**spec, "storageClassName": ""}}
    )


def test_scopes_choose_pods(world: World) -> None:
    world.quota("best", scopes=["BestEffort"], hard={"pods": "0"})
    term = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    world.quota("high", hard={"pods": "0"}, scopeSelector={"matchExpressions": [term]})
    world.create("pods", asking("burstable", "1"))
    assert "exceeded quota: best" in world.refusal("pods", pod("idle")).message
    world.create("priorityclasses.scheduling.k8s.io", {"metadata": {"name": "high"}, "value": 5}, "")
    urgent = asking("urgent", "1")
    urgent["spec"]["priorityClassName"] = "high"
    assert "exceeded quota: high" in world.refusal("pods", urgent).message


AMOUNTS = st.integers(0, 3000).map(lambda milli: f"{milli}m")


@pytest.mark.slow
@given(
    hard_cpu=AMOUNTS,
    hard_pods=st.integers(0, 5),
    asked=st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=8),
)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_sum_never_exceeds_the_limit(hard_cpu: str, hard_pods: int, asked: list[tuple[str, str]]) -> None:
    world = World(demo_cluster(Kernel(1)).api)
    world.create("serviceaccounts", {"metadata": {"name": "default"}})
    world.quota(hard={"requests.cpu": hard_cpu, "pods": str(hard_pods)})
    total, made = Fraction(0), 0
    for number, (first, second) in enumerate(asked):
        listed = [
            {"name": f"c{at}", "resources": {"requests": {"cpu": cpu}}}
            for at, cpu in enumerate((first, second))
        ]
        try:
            world.create("pods", pod(f"p{number}", *listed))
        except ApiError:
            continue
        total += quantity.parse(first) + quantity.parse(second)
        made += 1
    assert total <= quantity.parse(hard_cpu)
    assert made <= hard_pods
    assert quantity.parse(used(world)["requests.cpu"]) == total
    assert used(world)["pods"] == str(made)

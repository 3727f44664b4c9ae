"""Costs and violations are found in the cluster as it is, and are gone after the reference repair."""

from __future__ import annotations

from typing import Any

import pytest

from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault
from aiopslab.generators.fault.exposed_service import ExposedService
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.tasks import ComplianceTask, CostTask
from aiopslab.orchestrator.tasks.compliance import _is_account, _is_isolated, find_violations
from aiopslab.orchestrator.tasks.cost import compute_cost
from simcloud.world.copies import Copy

REGISTRY = ProblemRegistry()


def list_faults(task_type: str) -> list[Fault]:
    problems = map(REGISTRY.get_problem_instance, REGISTRY.get_problem_ids(task_type))
    return [
        fault for problem in problems if problem.app.name == "hotel-reservation" for fault in problem.faults
    ]


def live(environment: Environment, fault: Fault) -> list[tuple[bool, float, list[str]]]:
    """Presence, cost and violations before the fault, with it, and after its repair."""
    seen = []
    for change in (None, fault.inject, fault.recover, fault.recover):
        if change is not None:
            change(environment)
            if change == fault.inject:
                environment.mark_injected()
            environment.run_for(40.0)
        cost = compute_cost(environment.read_declared())
        seen.append((fault.present(environment), round(cost, 6), list(find_violations(environment))))
    return seen


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize(
    "fault", [*list_faults("finops"), *list_faults("ciso")], ids=lambda fault: fault.name
)
def test_a_fault_is_found_and_can_be_repaired(hotels: Copy[Environment], fault: Fault) -> None:
    with hotels.branch() as copy:
        before, broken, repaired, again = copy.call(live, fault)
    assert [broken[0], repaired[0], again[0]] == [True, False, False]
    assert before[1:] == repaired[1:] == again[1:]
    assert (broken[1] > 1.2 * before[1]) is (fault in list_faults("finops"))
    assert (broken[2] != []) is (fault in list_faults("ciso"))


TOOL = {"app": "export", "exposure": "partner"}
OWN: dict[str, Any] = {"podSelector": {"matchLabels": {"app": "export"}}, "policyTypes": ["Ingress"]}
EVERYWHERE: dict[str, Any] = {"namespaceSelector": {}}


def admit(*peers: dict[str, Any]) -> dict[str, Any]:
    """Return a specification that admits these peers to the tool."""
    return {**OWN, "ingress": [{"from": [*peers]}]}


@pytest.mark.parametrize(
    ("specs", "is_isolated"),
    [
        ([], False),
        ([OWN], True),
        ([{**OWN, "policyTypes": ["Egress"]}], False),
        ([{**OWN, "podSelector": {}}], True),
        ([{**OWN, "podSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}], False),
        ([{**OWN, "ingress": [{}]}], False),
        ([admit({"podSelector": {}})], True),
        ([admit({"podSelector": {}}, EVERYWHERE)], False),
        ([admit({**EVERYWHERE, "podSelector": {"matchLabels": {"app": "web"}}})], True),
        ([admit({"ipBlock": {"cidr": "203.0.113.0/24"}})], True),
        ([admit({"ipBlock": {"cidr": "0.0.0.0/0"}})], False),
        ([OWN, admit(EVERYWHERE)], False),
    ],
)
def test_isolation_admits_named_sources_only(specs: list[dict[str, Any]], is_isolated: bool) -> None:
    assert _is_isolated(TOOL, [{"spec": spec} for spec in specs]) is is_isolated


@pytest.mark.parametrize(
    ("kind", "name", "is_account"),
    [
        ("ServiceAccount", "default", True),
        ("Group", "system:serviceaccounts:shop", True),
        ("Group", "system:authenticated", True),
        ("User", "system:serviceaccount:shop:default", True),
        ("Group", "system:serviceaccounts:other", False),
        ("User", "jane", False),
    ],
)
def test_a_binding_may_name_service_accounts_by_their_group(kind: str, name: str, is_account: bool) -> None:
    namespace = {"namespace": "shop"} if kind == "ServiceAccount" else {}
    assert _is_account({"kind": kind, "name": name, **namespace}, "shop") is is_account


def describe(environment: Environment) -> tuple[str, str]:
    texts = []
    for kind in (CostTask, ComplianceTask):
        task = kind(environment.app, (ExposedService("mongodb-user"),))
        task.environment = environment
        texts.append(task.get_task_description())
    return texts[0], texts[1]


def test_the_description_has_the_figures_and_the_policy(hotels: Copy[Environment]) -> None:
    with hotels.branch() as copy:
        cost, compliance = copy.call(describe)
    assert "The cost was 0.3" in cost
    assert "Public Services: frontend, jaeger" in compliance
    assert "No container is privileged" in compliance

"""Costs and violations are found in the cluster as it is, and are gone after the reference repair."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.base import Fault
from aiopslab.generators.fault.exposed_service import ExposedService
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.tasks import ComplianceTask, CostTask
from aiopslab.orchestrator.tasks.compliance import find_violations
from aiopslab.orchestrator.tasks.cost import compute_cost
from simcloud.world.copies import Copy

REGISTRY = ProblemRegistry()


def settle() -> Environment:
    environment = Environment(HotelReservation(), seed=5)
    environment.settle()
    return environment


@pytest.fixture(scope="module")
def baseline() -> Iterator[Copy[Environment]]:
    with Copy.of(settle) as copy:
        yield copy


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


@pytest.mark.parametrize(
    "fault", [*list_faults("finops"), *list_faults("ciso")], ids=lambda fault: fault.name
)
def test_a_fault_is_found_and_can_be_repaired(baseline: Copy[Environment], fault: Fault) -> None:
    with baseline.branch() as copy:
        before, broken, repaired, again = copy.call(live, fault)
    assert [broken[0], repaired[0], again[0]] == [True, False, False]
    assert before[1:] == repaired[1:] == again[1:]
    assert (broken[1] > 1.2 * before[1]) is (fault in list_faults("finops"))
    assert (broken[2] != []) is (fault in list_faults("ciso"))


def describe(environment: Environment) -> tuple[str, str]:
    texts = []
    for kind in (CostTask, ComplianceTask):
        task = kind(environment.app, (ExposedService("mongodb-user"),))
        task.environment = environment
        texts.append(task.get_task_description())
    return texts[0], texts[1]


def test_the_description_has_the_figures_and_the_policy(baseline: Copy[Environment]) -> None:
    with baseline.branch() as copy:
        cost, compliance = copy.call(describe)
    assert "The cost was 0.3" in cost
    assert "Public Services: frontend, jaeger" in compliance
    assert "No container is privileged" in compliance

"""Every family keeps the rules: ids that people know, texts that tell nothing, right answers that exist."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import mean

import pytest

from aiopslab.apps import INGRESS
from aiopslab.generators.fault.base import load_faults
from aiopslab.orchestrator.problems import TYPES, ProblemRegistry, list_suite
from aiopslab.orchestrator.tasks import AnalysisTask, LocalizationTask, Task
from aiopslab.orchestrator.tasks.analysis import LABELS

REGISTRY = ProblemRegistry()
IDS = REGISTRY.get_problem_ids()
FOUR = ("detection", "localization", "analysis", "mitigation")
SYSTEM = ("coredns", "kube-proxy")
"""Components of the cluster itself that may be faulty."""
KNOWN_BY_SYMPTOMS = ("detection", "localization", "mitigation")

PUBLISHED = {
    "k8s_target_port-misconfig": (FOUR, ["user-service", "text-service", "post-storage-service"]),
    "revoke_auth_mongodb": (FOUR, ["mongodb-geo", "mongodb-rate"]),
    "misconfig_app_hotel_res": (FOUR, ["geo"]),
    "scale_pod_zero_social_net": (FOUR, ["user-service"]),
    "auth_miss_mongodb": (FOUR, ["url-shorten-mongodb"]),
    "user_unregistered_mongodb": (FOUR, ["mongodb-geo", "mongodb-rate"]),
    "assign_to_non_existent_node_social_net": (FOUR, ["user-service"]),
    "wrong_bin_usage": (FOUR, ["profile"]),
    "redeploy_without_PV": (FOUR, ["mongodb-geo"]),
    "disk_woreout": (FOUR, ["mongodb-reservation"]),
    "kernel_fault_hotel_reservation": (FOUR, ["geo"]),
    "network_loss_hotel_res": (KNOWN_BY_SYMPTOMS, ["user"]),
    "network_delay_hotel_res": (KNOWN_BY_SYMPTOMS, ["user"]),
    "pod_failure_hotel_res": (KNOWN_BY_SYMPTOMS, ["user"]),
    "pod_kill_hotel_res": (KNOWN_BY_SYMPTOMS, ["user"]),
}
ROOT_CAUSES = {
    "k8s_target_port-misconfig": ("Virtualization", "Misconfiguration"),
    "revoke_auth_mongodb": ("Application", "Authentication Issue"),
    "misconfig_app_hotel_res": ("Application", "Misconfiguration"),
    "scale_pod_zero_social_net": ("Virtualization", "Operation Error"),
    "auth_miss_mongodb": ("Application", "Misconfiguration"),
    "user_unregistered_mongodb": ("Application", "Network/Storage Issue"),
    "assign_to_non_existent_node_social_net": ("Virtualization", "Dependency Problem"),
    "wrong_bin_usage": ("Application", "Network/Storage Issue"),
    "redeploy_without_PV": ("Virtualization", "Operation Error"),
    "disk_woreout": ("Hardware", "Network/Storage Issue"),
    "kernel_fault_hotel_reservation": ("Operating System", "Code Defect"),
}


@pytest.mark.parametrize("family", PUBLISHED)
def test_published_families_have_their_ids_and_answers(family: str) -> None:
    tasks, components = PUBLISHED[family]
    for task in tasks:
        for number, component in enumerate(components, 1):
            problem = REGISTRY.get_problem_instance(f"{family}-{task}-{number}")
            assert problem.task_type == task
            assert [fault.truth.component for fault in problem.faults] == [component]
            if task == "analysis":
                assert tuple(problem.get_expected().values()) == ROOT_CAUSES[family]


@pytest.mark.parametrize("task", KNOWN_BY_SYMPTOMS)
def test_container_kill_has_no_number(task: str) -> None:
    problem = REGISTRY.get_problem_instance(f"container_kill-{task}")
    assert [fault.truth.component for fault in problem.faults] == ["geo"]


def test_the_wrong_program_may_be_called_a_misconfiguration() -> None:
    problem = REGISTRY.get_problem_instance("wrong_bin_usage-analysis-1")
    also = {"system_level": "Application", "fault_type": "Misconfiguration"}
    assert problem.eval(also, [], 1.0)["success"]


def test_all_databases_lack_their_volumes_after_a_redeployment() -> None:
    problem = REGISTRY.get_problem_instance("redeploy_without_PV-localization-1")
    data = ("geo", "profile", "rate", "recommendation", "reservation", "user")
    assert problem.get_expected() == [f"mongodb-{name}" for name in data]
    assert not problem.eval(["mongodb-geo"], [], 1.0)["success"]


@pytest.mark.parametrize("app", ["hotel_reservation", "social_network"])
def test_no_ops_expect_no(app: str) -> None:
    problem = REGISTRY.get_problem_instance(f"noop_detection_{app}-1")
    assert problem.faults == ()
    assert problem.get_expected() == "No"


def test_the_papers_tasks_have_the_problems_they_always_had() -> None:
    tasks = [REGISTRY.get_problem_instance(pid).task_type for pid in list_suite(REGISTRY, "compat")]
    assert Counter(tasks) == {"detection": 22, "localization": 20, "analysis": 15, "mitigation": 20}


def test_every_fault_that_users_notice_is_an_incident_too() -> None:
    repairs = [pid.replace("-mitigation", "-incident") for pid in REGISTRY.get_problem_ids("mitigation")]
    assert REGISTRY.get_problem_ids("incident") == repairs


@pytest.mark.parametrize("pid", REGISTRY.get_problem_ids("prediction"))
def test_as_much_growth_is_harmless_as_is_not(pid: str) -> None:
    share = mean(REGISTRY.get_problem_instance(pid, seed).breaks for seed in range(200))
    assert 0.4 < share < 0.6


def test_types_of_tasks_divide_the_problems() -> None:
    parts = [REGISTRY.get_problem_ids(task) for task in TYPES]
    assert sorted(pid for part in parts for pid in part) == sorted(IDS)
    assert all(parts)


@pytest.mark.parametrize("pid", IDS)
def test_every_problem_is_made_anew_and_can_be_answered(pid: str) -> None:
    problem = REGISTRY.get_problem_instance(pid)
    assert problem.id == pid
    assert problem is not REGISTRY.get_problem_instance(pid)
    names = {*(component.name for component in problem.app.components), *SYSTEM}
    if isinstance(problem, LocalizationTask):
        # The best answer is a component; a quota or a policy that stops it is accepted too.
        assert {right[0] for right in problem.get_right_answers()} <= names
    if isinstance(problem, AnalysisTask):
        assert all(problem.get_expected()[key] in labels for key, labels in LABELS.items())
    if problem.task_type in ("detection", "localization", "analysis"):
        assert problem.eval(problem.get_expected(), [], 1.0)["success"]


def test_what_agents_are_told_does_not_depend_on_what_is_wrong() -> None:
    told: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    for problem in map(REGISTRY.get_problem_instance, IDS):
        told[problem.app.name, problem.task_type, problem.entry].add(
            (problem.get_task_description(), problem.get_instructions())
        )
    assert all(len(texts) == 1 for texts in told.values())


def test_what_agents_are_told_has_what_they_need() -> None:
    for problem in map(REGISTRY.get_problem_instance, IDS):
        description, instructions = problem.get_task_description(), problem.get_instructions()
        assert problem.app.namespace in description
        assert (problem.app.host if problem.entry == INGRESS else problem.app.frontend_url) in description
        assert problem.goal in description
        assert problem.example in instructions


def test_every_fault_is_used_by_a_family() -> None:
    problems = map(REGISTRY.get_problem_instance, IDS)
    used = {fault.name for problem in problems for fault in problem.faults}
    assert used == set(load_faults())


def test_every_floor_of_always_the_same_answer_is_below_what_is_right() -> None:
    """Whoever always says yes is wrong at least once."""
    asked: list[Task] = [REGISTRY.get_problem_instance(pid) for pid in REGISTRY.get_problem_ids("detection")]
    assert {problem.get_expected() for problem in asked} == {"Yes", "No"}

"""Suites: named selections of problems.

``all``: every problem. ``compat``: those with the ids of the public release. ``paper``: those of the paper's evaluation.
``smoke``: a few quick ones. ``core``: a hundred, balanced over tasks, applications and layers. ``hard``: those with the
greatest structural difficulty.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest
from random import Random
from typing import Final, Literal, get_args

from aiopslab.orchestrator.problems.difficulty import measure_difficulty
from aiopslab.orchestrator.problems.registry import TYPES, ProblemRegistry
from aiopslab.utils import AIOpsLabError

Suite = Literal["smoke", "paper", "compat", "core", "hard", "all"]
SUITES: Final[tuple[Suite, ...]] = get_args(Suite)
CORE_SIZE: Final = 100
PAPER: Final = (
    "auth_miss_mongodb", "k8s_target_port-misconfig", "revoke_auth_mongodb", "user_unregistered_mongodb",
    "misconfig_app_hotel_res", "scale_pod_zero_social_net", "assign_to_non_existent_node_social_net", "network_loss_hotel_res",
    "pod_failure_hotel_res", "noop_detection_hotel_reservation", "noop_detection_social_network",
)  # fmt: skip
"""The families of the paper's table of faults."""
SMOKE: Final = (
    "noop_detection_hotel_reservation-1", "scale_pod_zero_social_net-detection-1", "revoke_auth_mongodb-localization-1",
    "k8s_target_port-misconfig-analysis-1", "misconfig_app_hotel_res-mitigation-1", "scale_pod_zero_social_net-mitigation-1",
    "wrong_image_hotel_res-detection", "wrong_image_social_net-localization", "deleted_service_hotel_res-mitigation",
    "deleted_service_social_net-mitigation",
)  # fmt: skip


class NoSuchSelection(AIOpsLabError):
    """No problem can be selected so; the message lists the possible values."""


class NoSuchSuite(NoSuchSelection):
    """There is no suite of that name; the message lists all."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no suite '{name}'. Choose one of: {', '.join(SUITES)}.")


def list_suite(registry: ProblemRegistry, name: str) -> list[str]:
    """Return the ids of a suite; raises ``NoSuchSuite``."""
    if name == "all":
        return registry.get_problem_ids()
    if name == "compat":
        return [
            pid for pid in registry.get_problem_ids() if not registry.is_drawn(pid) and "-incident" not in pid
        ]
    if name == "paper":
        return [pid for pid in list_suite(registry, "compat") if pid.startswith(PAPER) and pid[-1].isdigit()]
    if name == "smoke":
        return list(SMOKE)
    drawn = [pid for pid in registry.get_problem_ids() if registry.is_drawn(pid)]
    if name == "hard":
        return [pid for pid in drawn if _is_hard(registry, pid)]
    if name == "core":
        return _choose_core(registry, drawn)
    raise NoSuchSuite(name)


def select_problems(
    registry: ProblemRegistry, ids: Sequence[str], task: str | None, app: str | None
) -> list[str]:
    """Return the problems of a task and an application among those given; raises ``NoSuchSelection``."""
    if task is not None and task not in TYPES:
        raise NoSuchSelection(f"There is no task '{task}'. Choose one of: {', '.join(TYPES)}.")
    apps = sorted({registry.get_app_name(pid) for pid in ids})
    if app is not None and app not in apps:
        raise NoSuchSelection(f"There is no problem of '{app}'. Choose one of: {', '.join(apps)}.")
    return [
        pid
        for pid in ids
        if app in (None, registry.get_app_name(pid)) and task in (None, registry.get_task_type(pid))
    ]


def _is_hard(registry: ProblemRegistry, pid: str) -> bool:
    """Whether most targets of a problem make it hard. A healthy detection is as hard as its faulty half."""
    faulty = pid.replace("-detection", "-mitigation")
    problems = [registry.get_problem_instance(faulty, seed) for seed in range(3)]
    ratings = [measure_difficulty(problem).rating for problem in problems]
    return ratings.count("hard") >= 2


def _choose_core(registry: ProblemRegistry, drawn: list[str]) -> list[str]:
    """Return problems in turn from each task, application and layer."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for pid in Random("core").sample(drawn, len(drawn)):
        task = registry.get_problem_instance(pid)
        layer = task.faults[0].layer if task.faults else "none"
        groups[task.task_type, task.app.name, layer].append(pid)
    in_turn = chain.from_iterable(zip_longest(*(groups[key] for key in sorted(groups))))
    return sorted([pid for pid in in_turn if pid is not None][:CORE_SIZE])

"""A world in which nothing was done and one with an incident differ in symptoms, and in nothing that is told or counted."""

from __future__ import annotations

from collections import defaultdict

import pytest

from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from aiopslab.orchestrator.stages import Stage, Stages

HOST = "hostname -I; uptime; ls -laR --full-time / 2>/dev/null | md5sum; cat /root/.kube/config; env; ps aux | wc -l"


def beginning(stage: Stage) -> tuple[float, str, str]:
    """When a session would begin, what its agent would be told, and what its host tells of itself."""
    posed = stage.problem
    assert posed is not None
    told = repr((posed.prompt.description, posed.prompt.instructions, posed.prompt.actions))
    return posed.environment.now, told, posed.terminal.run(HOST).stdout.decode()


@pytest.mark.slow
def test_sessions_of_one_task_begin_alike_whatever_is_wrong(stages: Stages) -> None:
    registry = ProblemRegistry()
    seen = defaultdict(set)
    for pid in list_suite(registry, "compat"):
        if registry.get_problem_instance(pid).task_type != "detection":
            continue
        with stages.episode(pid) as copy:
            seen[registry.get_problem_instance(pid).app.name].add(copy.call(beginning))
    assert set(seen) == {"hotel-reservation", "social-network"}
    for beginnings in seen.values():
        assert len(beginnings) == 1


@pytest.mark.slow
def test_the_time_at_which_a_session_begins_has_no_fraction_that_tells(stages: Stages) -> None:
    with stages.episode("noop_detection_hotel_reservation-1") as copy:
        posed_at_s = copy.call(beginning)[0]
    with stages.copy_baseline("noop_detection_hotel_reservation-1") as copy:
        settled_at_s = copy.call(settled_at)
    steps = (posed_at_s - settled_at_s) / 5.0
    assert steps == pytest.approx(round(steps), abs=1e-6)


def settled_at(stage: Stage) -> float:
    return stage.environment.now

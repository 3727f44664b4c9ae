"""What agents are told of their situation."""

from __future__ import annotations

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.orchestrator.tasks import TASKS, DetectionTask, IncidentTask
from simcloud.world.policies import POLICIES


@pytest.mark.parametrize("policy", POLICIES)
def test_agents_are_told_what_they_may_do(policy: str) -> None:
    task = DetectionTask(HotelReservation())
    task.policy = policy
    told = task.get_task_description()
    assert told.count("Your permissions: ") == 1
    assert ("ssh" in told) is POLICIES[policy].has_ssh_key


def test_tasks_where_something_is_wrong_say_so_and_others_do_not() -> None:
    said = {kind.task_type: "something is wrong with the application;" in kind.goal for kind in TASKS}
    assert said == {
        "detection": False, "localization": False, "analysis": True, "mitigation": True, "incident": False,
    }  # fmt: skip
    assert "you were paged;" in IncidentTask.goal


def test_the_application_is_described_with_its_components() -> None:
    told = DetectionTask(HotelReservation()).get_task_description()
    assert "Users search hotels" in told
    assert "mongodb-reservation, mongodb-user, memcached-profile" in told
    assert "User journeys, under constant load: search, recommend, user, reserve" in told

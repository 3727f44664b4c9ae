"""Other teams are busy beside the application: their trouble is visible, harmless, and no symptom."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from aiopslab.apps.hotelres import HotelReservation
from aiopslab.cloud import Environment
from aiopslab.generators import TEAMS, draw_noise
from aiopslab.orchestrator.preparation import make_noise
from aiopslab.orchestrator.validation.commands import NEWEST
from aiopslab.orchestrator.validation.evidence import find_symptoms
from simcloud.world import Copy

PERIOD_S = 30
PERIODS = 14


def look_at_neighbours() -> tuple[list[bool], str, tuple[str, ...]]:
    """Return whether an alert fires, at each period, then the pod that uses most CPU time, and the symptoms."""
    environment = Environment(HotelReservation(), 5)
    environment.settle()
    noise = draw_noise(environment.app, Random(4), "heavy", [])
    make_noise(environment, noise.before[:2])
    fires = []
    for _ in range(PERIODS):
        environment.run_for(PERIOD_S)
        alerts = [
            dict(alert.labels) for alert in environment.monitoring.rules.alerts if alert.state == "firing"
        ]
        fires.append(any(labels.get("namespace") in TEAMS for labels in alerts))
    symptoms = find_symptoms(environment)
    used = environment.run("kubectl top pods -A --no-headers | sort -rnk3 | head -1")
    return fires, used, (*symptoms.alerts, *symptoms.unhealthy)


@pytest.mark.slow
def test_neighbours_compute_and_their_alerts_come_and_go() -> None:
    fires, used, symptoms = look_at_neighbours()
    changes = sum(before != after for before, after in pairwise(fires))
    assert changes >= 3
    namespace, _, processors, _ = used.split()
    assert namespace in TEAMS and int(processors.removesuffix("m")) > 250
    assert symptoms == ()


def test_a_ticket_of_another_team_is_open_unless_there_is_no_noise() -> None:
    app = HotelReservation()
    assert "OPS-" in draw_noise(app, Random(1), "usual", []).ticket
    assert draw_noise(app, Random(1), "none", []).ticket == ""


@pytest.mark.parametrize("spared", ["geo", "frontend"])
def test_the_newest_object_of_an_application_is_an_innocent_one(
    hotels: Copy[Environment], spared: str
) -> None:
    """Also where every service is a neighbour of the faulty one."""
    with hotels.branch() as copy:
        newest = copy.call(find_newest_objects, spared)
    assert len(newest) == 6
    assert not {"", f"deployment/{spared}", f"service/{spared}"} & set(newest), newest
    assert draw_noise(HotelReservation(), Random(1), "none", [spared]).late == ()


def find_newest_objects(environment: Environment, spared: str) -> list[str]:
    """Return the application's newest object after each of six late changes by other teams."""
    newest = []
    for seed in range(6):
        make_noise(environment, draw_noise(environment.app, Random(seed), "usual", [spared]).late)
        newest.append(environment.run(NEWEST.format(ns=environment.namespace)).strip())
    return newest

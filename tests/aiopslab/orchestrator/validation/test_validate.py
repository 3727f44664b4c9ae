"""A problem that is unfair is found out, and it is said in what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.validation import Validator

UNFAIR = Path(__file__).with_name("unfair_problems.py")


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    problems = ProblemRegistry()
    problems.load(UNFAIR)
    with Validator(3, problems=problems, twice=True) as one:
        yield one


def wrong(validator: Validator, pid: str) -> dict[str, str]:
    return {finding.what: finding.why for finding in validator.validate(pid) if not finding.well}


@pytest.mark.slow
def test_an_incident_that_nobody_can_notice(validator: Validator) -> None:
    assert wrong(validator, "harmless-detection-1") == {"the incident is visible": "it has no symptoms"}


@pytest.mark.slow
def test_an_incident_that_tells_its_name(validator: Validator) -> None:
    found = wrong(validator, "talkative-detection-1")
    assert list(found) == ["no text names the fault"]
    assert "'talkative_stop' occurs in" in found["no text names the fault"]


@pytest.mark.slow
def test_a_judge_who_takes_everything_for_right(validator: Validator) -> None:
    found = wrong(validator, "lenient-localization-1")
    assert list(found) == ["wrong answers fail"]
    assert "'frontend'" in found["wrong answers fail"]


@pytest.mark.slow
def test_a_world_that_is_never_the_same_twice(validator: Validator) -> None:
    assert wrong(validator, "restless-detection-1") == {"one seed, one outcome": "two stagings of it differ"}


@pytest.mark.slow
def test_an_incident_that_a_restart_repairs(validator: Validator) -> None:
    found = wrong(validator, "stopped_at_will-mitigation-1")
    assert list(found) == ["restarting everything fails"]
    # Consul forgets services that register while it stops, so users may fail after such a restart; the cause is gone in any case.
    assert found["restarting everything fails"].startswith(("it passes as a repair", "it removes the cause"))

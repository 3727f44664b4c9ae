"""Every problem that there is, is fair: a new family is proved by being there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import pytest

from aiopslab.orchestrator.problems import ProblemRegistry, list_suite
from aiopslab.orchestrator.validation import Validator

SEED = 3
PROBLEMS = ProblemRegistry()


def group_problems(ids: list[str]) -> list[object]:
    """The ids of problems that share their faults, by application and faults; those of an application in a row."""
    groups: dict[str, list[str]] = defaultdict(list)
    for pid in ids:
        task = PROBLEMS.get_problem_instance(pid, SEED)
        groups[f"{task.app.name} {', '.join(map(repr, task.faults)) or 'no fault'}"].append(pid)
    return [pytest.param(group, id=name) for name, group in sorted(groups.items())]


def group_drawn() -> list[object]:
    """The drawn problems of each family, those of an application in a row."""
    groups: dict[str, list[str]] = defaultdict(list)
    for pid in filter(PROBLEMS.is_drawn, PROBLEMS.get_problem_ids()):
        groups[f"{PROBLEMS.get_problem_instance(pid).app.name} {pid.rpartition('-')[0]}"].append(pid)
    return [pytest.param(group, id=name) for name, group in sorted(groups.items())]


@pytest.fixture(scope="module")
def validator() -> Iterator[Validator]:
    """One for all, so that baselines are prepared once."""
    with Validator(SEED, problems=PROBLEMS) as shared:
        yield shared


@pytest.mark.slow
@pytest.mark.parametrize("problems", group_problems(list_suite(PROBLEMS, "compat")))
def test_problems_are_fair(validator: Validator, problems: list[str]) -> None:
    check(validator, problems)


@pytest.mark.slow(rarely=1000)
@pytest.mark.parametrize("problems", group_drawn())
def test_drawn_problems_are_fair(validator: Validator, problems: list[str]) -> None:
    check(validator, problems)


def check(validator: Validator, problems: list[str]) -> None:
    found = {pid: validator.validate(pid) for pid in problems}
    assert not [
        f"{pid}: {finding}" for pid, findings in found.items() for finding in findings if not finding.well
    ]

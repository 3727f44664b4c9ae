"""Every problem that there is, is fair: a new family is proved by being there.

One test for each application, so that its baseline is prepared once; the failing ones are named with what was found.
"""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.validation import Validator

PROBLEMS = ProblemRegistry()
APPS = dict.fromkeys(PROBLEMS.get_problem(pid).app.name for pid in PROBLEMS.get_problem_ids())


@pytest.mark.slow
@pytest.mark.parametrize("app", APPS)
def test_the_problems_of_an_application_are_fair(app: str) -> None:
    own = [pid for pid in PROBLEMS.get_problem_ids() if PROBLEMS.get_problem(pid).app.name == app]
    own.sort(key=lambda pid: repr(PROBLEMS.get_problem(pid).faults))
    unfair = []
    with Validator(3, problems=PROBLEMS) as validator:
        for pid in own:
            unfair += [f"{pid}: {finding}" for finding in validator.validate(pid) if not finding.well]
    assert own
    assert unfair == []

"""Every problem id of the public AIOpsLab release works, or names the application that it waits for."""

from __future__ import annotations

import pytest

from aiopslab.orchestrator.problems.missing import find_missing_application
from aiopslab.orchestrator.problems.registry import ProblemRegistry, UnknownProblem
from tests.aiopslab.compat.ids import DISABLED, LIVE

REGISTRY = ProblemRegistry()
IDS = [pid for part in (LIVE, DISABLED) for ids in part.values() for pid in ids]


def test_all_ids_are_listed() -> None:
    assert [sum(map(len, part.values())) for part in (LIVE, DISABLED)] == [89, 15]
    assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("pid", IDS)
def test_an_id_works_or_names_its_application(pid: str) -> None:
    waits_for = find_missing_application(pid)
    if not waits_for:
        assert REGISTRY.get_problem_instance(pid).task_type in pid
        return
    assert REGISTRY.get_problem(pid) is None
    with pytest.raises(UnknownProblem, match=f"waits for its application: {waits_for}"):
        REGISTRY.get_problem_instance(pid)

"""Right repairs of drawn faults pass, whichever way an engineer takes; wrong and sloppy ones fail.

Each table is a module of this folder with ``REPAIRS``, by the fault's name. ``AIOPSLAB_DRAW=n`` draws other targets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest

from aiopslab.generators.fault.drawn import DrawnFault
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.stages import Stage, Stages
from aiopslab.orchestrator.validation.repairs import RepairOutcome, judge
from tests.repairs.table import Repairs

SEED = int(os.environ.get("AIOPSLAB_DRAW", "1"))
TIMEOUT_S = 600.0


def load_tables() -> dict[str, Repairs]:
    found: dict[str, Repairs] = {}
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = import_module(f"tests.repairs.{path.stem}") if not path.stem.startswith("test_") else None
        found |= getattr(module, "REPAIRS", {})
    return found


TABLES = load_tables()


def list_cases() -> Iterator[object]:
    for pid in ProblemRegistry().get_problem_ids("mitigation"):
        name = next((name for name in TABLES if pid.startswith((f"{name}_hotel", f"{name}_social"))), None)
        if name is not None and not pid[-1].isdigit():
            yield pytest.param(name, pid, id=pid)


@pytest.fixture(scope="module")
def stages() -> Iterator[Stages]:
    with Stages(SEED) as one:
        yield one


def repair(stage: Stage, line: str) -> tuple[str, RepairOutcome]:
    """Type a line in a copy and judge it; return the line as it was typed."""
    problem = stage.problem
    assert problem is not None
    (fault,) = problem.task.faults
    assert isinstance(fault, DrawnFault)
    target = fault.target
    words = {one.name: str(getattr(fault, one.name)) for one in fields(fault)}
    deployment = problem.environment.find_original("deployments.apps", target)
    assert deployment is not None
    nodes = fault.machines_at_fault(problem.environment)
    words |= {
        "ns": problem.environment.namespace,
        "t": target,
        "c": deployment["spec"]["template"]["spec"]["containers"][0]["name"],
        "node": next(iter(nodes), ""),
        "nodes": " ".join(nodes),
    }
    for word, value in words.items():
        line = line.replace(f"{{{word}}}", value)
    problem.terminal.run(line, TIMEOUT_S)
    return line, judge(problem.task)


@pytest.mark.slow(keep=3, rarely=30)
@pytest.mark.parametrize(("name", "pid"), list(list_cases()))
def test_right_repairs_pass_and_wrong_ones_fail(stages: Stages, name: str, pid: str) -> None:
    table = TABLES[name]
    for lines, passes in ((table.right, True), (table.wrong, False)):
        for line in lines:
            with stages.episode(pid) as copy:
                typed, outcome = copy.call(repair, line)
            assert outcome.passed is passes, f"{typed}: {outcome.why}"


def test_every_table_has_three_of_each() -> None:
    short = [name for name, table in TABLES.items() if min(len(table.right), len(table.wrong)) < 3]
    assert not short

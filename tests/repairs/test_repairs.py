"""Right repairs pass, whichever way an engineer takes; wrong and sloppy ones fail.

Each table is a module of this folder with ``REPAIRS``: by the fault's name for drawn problems, by the family's name for those of
the public release. ``AIOPSLAB_DRAW=n`` draws other targets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from aiopslab.generators.fault import Fault
from aiopslab.generators.fault.drawn import DrawnFault
from aiopslab.orchestrator.problems import ProblemRegistry
from aiopslab.orchestrator.stages import Stage, Stages
from aiopslab.orchestrator.validation.repairs import RepairOutcome, judge
from tests.repairs.table import Repairs

SEED = int(os.environ.get("AIOPSLAB_DRAW", "1"))
TIMEOUT_S = 600.0
REGISTRY = ProblemRegistry()
JUDGED = [pid for task in ("mitigation", "finops", "ciso") for pid in REGISTRY.get_problem_ids(task)]
"""The problems that are answered by a repair."""


def load_tables() -> dict[str, Repairs]:
    found: dict[str, Repairs] = {}
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = import_module(f"tests.repairs.{path.stem}") if not path.stem.startswith("test_") else None
        found |= getattr(module, "REPAIRS", {})
    return found


TABLES = load_tables()


def find_tables(pid: str) -> list[Repairs]:
    """Return the table of each fault of a problem, of the family's own name if there is one."""
    problem = REGISTRY.get_problem_instance(pid, SEED)
    family = pid.partition(f"-{problem.task_type}")[0]
    if pid[-1].isdigit():
        return [TABLES[family]] if family in TABLES else []
    return [TABLES[fault.name] for fault in problem.faults if fault.name in TABLES]


def list_repairs(tables: list[Repairs]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the lines of each repair, one for each fault, and whether it is right.

    Of several faults, all must be repaired.
    """
    if len(tables) == 1:
        yield from (((line,), True) for line in tables[0].right)
        yield from (((line,), False) for line in tables[0].wrong)
        return
    first, second = tables
    yield from (((*lines,), True) for lines in zip(first.right, second.right, strict=False))
    yield (first.right[0], ""), False
    yield ("", second.right[0]), False
    yield (first.right[1], second.wrong[0]), False


@pytest.fixture(scope="module")
def stages() -> Iterator[Stages]:
    with Stages(SEED) as found:
        yield found


def repair(stage: Stage, lines: tuple[str, ...]) -> tuple[str, RepairOutcome]:
    """Type lines in a copy and judge them; return them as they were typed."""
    problem = stage.problem
    assert problem is not None
    typed = [fill(stage, line, fault) for line, fault in zip(lines, problem.task.faults, strict=True)]
    for line in filter(None, typed):
        problem.terminal.run(line, TIMEOUT_S)
    return "; ".join(typed), judge(problem.task)


def fill(stage: Stage, line: str, fault: Fault) -> str:
    """Replace the words in braces."""
    problem = stage.problem
    assert problem is not None
    assert is_dataclass(fault)
    target = fault.target if isinstance(fault, DrawnFault) else fault.truth.component
    words = {field.name: str(getattr(fault, field.name)) for field in fields(fault)}
    deployment = problem.environment.find_original("deployments.apps", target)
    assert deployment is not None
    nodes = fault.machines_at_fault(problem.environment)
    words |= {
        "ns": problem.environment.namespace,
        "t": target,
        "c": deployment["spec"]["template"]["spec"]["containers"][0]["name"],
        "host": problem.environment.app.host,
    }
    if nodes:
        words |= {"node": nodes[0], "nodes": " ".join(nodes)}
    for word, value in words.items():
        line = line.replace(f"{{{word}}}", value)
    return line


@pytest.mark.slow(rarely=30)
@pytest.mark.parametrize("pid", JUDGED)
def test_right_repairs_pass_and_wrong_ones_fail(stages: Stages, pid: str) -> None:
    for lines, passes in list_repairs(find_tables(pid)):
        with stages.episode(pid) as copy:
            typed, outcome = copy.call(repair, lines)
        assert outcome.passed is passes, f"{typed}: {outcome.why}"


@pytest.mark.parametrize("pid", JUDGED)
def test_every_problem_has_three_of_each(pid: str) -> None:
    tables = find_tables(pid)
    assert len(tables) == len(REGISTRY.get_problem_instance(pid, SEED).faults)
    repairs = list(list_repairs(tables))
    assert len(set(repairs)) == len(repairs)
    assert min(sum(passes is right for _, passes in repairs) for right in (True, False)) >= 3

"""A repair of the first problem is accepted."""

from __future__ import annotations

import asyncio

from aiopslab.cli.templates.example_problem import FAMILY
from aiopslab.orchestrator import Orchestrator, deploy, open_problem, stage

PROBLEM = "example_problem-mitigation-1"
REPAIR = (
    'exec_shell("kubectl -n test-hotel-reservation scale deployment/geo --replicas=1")',
    "submit()",
)


def test_the_repair_is_accepted() -> None:
    """Run one session with a scripted agent."""
    task = next(make() for name, _, make in FAMILY.iter_problems() if name == PROBLEM)
    stage(task, deploy(task, seed=0))
    orchestrator = Orchestrator(results=None)
    orchestrator.use_problem(open_problem(task))
    actions = iter(REPAIR)
    orchestrator.register_agent(lambda state: next(actions), name="script")
    outcome = asyncio.run(orchestrator.start_problem(max_steps=len(REPAIR)))
    assert outcome["results"]["success"], outcome["results"]

"""From a problem to a world that it stands in: the application settles, the fault is injected, trouble spreads.

What a problem needs of its world before the fault (its baseline) and what it breaks are named here, so that problems which
need the same can share it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from aiopslab.generators.site import at_site
from aiopslab.orchestrator.tasks import Task
from simcloud.world.policies import POLICIES

if TYPE_CHECKING:
    from aiopslab.cloud.environment import Environment

Tell = Callable[[str], None]
"""Whom the progress of long work is told, in short sentences."""

STEP_S: Final = 5.0
"""Sessions begin at whole steps of this after their baseline. Breaking things takes seconds and fractions of them: without
this, the time of day at which an agent is called would tell whether anything was done, and what."""


def silent(_told: str) -> None:
    """Tell nobody."""


def settled(task: Task, seed: int, tell: Tell = silent) -> Environment:
    """The problem's application with users on it, when all is well."""
    tell(
        f"{task.app.name}: the cluster comes up, the application is deployed, users come, a baseline is recorded"
    )
    from aiopslab.cloud.environment import Environment  # a whole cloud, which this first needs

    environment = Environment(task.app, seed, rate=task.rate)
    POLICIES[task.policy].admit(
        environment.cluster.api
    )  # that the agent is known here is part of the baseline
    environment.settle()
    environment.terminal(POLICIES[task.policy])  # nodes that are bad later could not be told whom to let in
    return environment


def stage(task: Task, environment: Environment, tell: Tell = silent) -> None:
    """Pose a problem in a world that has settled: its own load, its fault, and the time that trouble takes to spread."""
    task.environment = environment
    begun = environment.now
    with at_site(environment):
        task.start_workload()
        task.inject_fault()
    tell(f"{task.soak_s:g} simulated seconds pass before anybody is called")
    environment.run_for(task.soak_s)
    environment.write_off()
    steps = math.ceil((environment.now - begun) / STEP_S)
    environment.world.kernel.run_until(begun + steps * STEP_S)


def baseline_key(task: Task, seed: int) -> tuple[object, ...]:
    """Problems with equal keys settle in the same way."""
    kind = type(task.app)
    own = {name: value for name, value in vars(task.app).items() if not hasattr(kind, name)}
    return kind.__module__, kind.__qualname__, repr(sorted(own.items())), seed, task.rate, task.policy


def fault_key(task: Task, seed: int) -> tuple[object, ...]:
    """Problems with equal keys are staged in the same way; one that stages itself is like no other."""
    kind = type(task)
    usual = kind.start_workload is Task.start_workload and kind.inject_fault is Task.inject_fault
    what: object = (repr(task.faults), task.soak_s) if usual else task.id
    return *baseline_key(task, seed), what

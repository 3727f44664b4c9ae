"""Prepared problems: from nothing, from a shared baseline, the second task of a fault, a fresh copy with its first observation.

A first observation is what an agent waits for: the session is open, it has asked to see the pods, and sees them. Its budget is
without the time that the agent is thought to think, in which users go on; that is measured beside it. What counts is
what is used from when a copy is asked for: the one that ``Stages`` keeps ready was forked before, and has taken the pages of memory
that are written to at first. All that a copy costs, that of the process which is copied included, is told beside it, and what the
first copy of a problem costs, for which nothing was ready. ``python benchmarks/episodes.py [--json]``
"""

from __future__ import annotations

import json
import resource
import sys
import time
from statistics import median
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from aiopslab.orchestrator.stages import Stage, first_look, run_episode
from simcloud.world.copies import Copy

COPIES = 20
BETWEEN_S = 0.1
"""A copy is asked for when the session before it is over; agents take longer than this."""
BUDGETS = {
    "problem from a baseline, CPU s": 1.0,
    "another task of the fault, CPU ms": 20.0,
    "copy with a first observation, CPU ms": 20.0,
}


class Case(NamedTuple):
    """A problem, and another task of its fault."""

    problem: str
    same_fault: str


CASES = {
    "HotelReservation": Case("misconfig_app_hotel_res-detection-1", "misconfig_app_hotel_res-localization-1"),
    "SocialNetwork": Case(
        "scale_pod_zero_social_net-detection-1", "scale_pod_zero_social_net-localization-1"
    ),
}


class Lived(NamedTuple):
    """What a process has used in its life so far, and by which time."""

    cpu_s: float
    touched: int
    """How often it touched a page of memory that it did not have for itself yet."""
    at_s: float


class Looking:
    """Asks to see the pods, and tells what its process had used when it saw them."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.seen: Lived | None = None

    async def get_action(self, state: str) -> str:
        if self.seen is None and "Running" in state:
            self.seen = lived()
        return f'exec_shell("kubectl get pods -n {self.namespace}")'


def first_observation(stage: Stage, thinking_s: float) -> tuple[Lived, Lived]:
    """What this process has used when it is asked, and when an agent in it has seen the pods."""
    asked, agent = lived(), Looking(stage.environment.namespace)
    run_episode(stage, lambda: agent, max_steps=2, thinking_s=thinking_s)
    assert agent.seen is not None
    return asked, agent.seen


def lived(_stage: Stage | None = None) -> Lived:
    """What this process has used so far."""
    touched = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return Lived(time.process_time(), touched, time.perf_counter())


def copies(problem: Copy[Stage], thinking_s: float, *, spare: bool) -> dict[str, float]:
    """Fresh copies of one prepared problem, the median of each figure."""
    waited: list[Lived] = []
    in_all: list[Lived] = []
    before = problem.call(lived)
    if spare:
        problem.keep_spare(first_look)
    for _ in range(COPIES):
        time.sleep(BETWEEN_S)
        began_s = time.perf_counter()
        with problem.branch() as copy:
            asked, seen = copy.call(first_observation, thinking_s)
        waited.append(Lived(seen.cpu_s - asked.cpu_s, seen.touched - asked.touched, seen.at_s - began_s))
        in_all.append(seen)
    problem.keep_spare(None)
    after = problem.call(lived)
    copied_s = (after.cpu_s - before.cpu_s) / COPIES
    return {
        "CPU ms": median(one.cpu_s for one in waited) * 1e3,
        "wall ms": median(one.at_s for one in waited) * 1e3,
        "pages first touched": median(one.touched for one in waited),
        "CPU ms in all": (median(one.cpu_s for one in in_all) + copied_s) * 1e3,
    }


def measure(case: Case) -> dict[str, float]:
    """Each level is a process of its own, whose CPU time began with it."""
    with Copy.of(Stage, case.problem, 1) as baseline:
        figures = {"baseline from nothing, CPU s": baseline.call(lived).cpu_s}
        with (
            baseline.branch(Stage.stage, case.problem) as fault,
            fault.branch(Stage.pose, case.problem) as problem,
        ):
            posed_s = fault.call(lived).cpu_s + problem.call(lived).cpu_s
            figures["problem from a baseline, CPU s"] = posed_s
            with fault.branch(Stage.pose, case.same_fault) as other:
                figures["another task of the fault, CPU ms"] = other.call(lived).cpu_s * 1e3
            for name, thinking_s, spare in (
                ("", 0.0, True),
                (", after the usual thinking time", 5.0, True),
                (", none kept ready", 0.0, False),
            ):
                for unit, value in copies(problem, thinking_s, spare=spare).items():
                    figures[f"copy with a first observation{name}, {unit}"] = value
    return figures


def main() -> int:
    figures = {app: measure(case) for app, case in CASES.items()}
    ok = all(one[name] <= budget for one in figures.values() for name, budget in BUDGETS.items())
    if "--json" in sys.argv:
        print(json.dumps({"figures": figures, "ok": ok}, indent=1))
    else:
        table = Table("figure", *figures, "budget", title="prepared problems")
        for name in next(iter(figures.values())):
            measured = (_short(one[name]) for one in figures.values())
            table.add_row(name, *measured, _short(BUDGETS[name]) if name in BUDGETS else "")
        Console(width=120).print(table)
    return 0 if ok else 1


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())

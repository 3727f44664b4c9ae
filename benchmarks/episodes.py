"""Prepared problems: from nothing, from a shared baseline, the second task of a fault, a fresh copy with its first observation.

A first observation is what an agent waits for: the session is open, it has asked to see the pods, and sees them. Its budget is
without the time that the agent is thought to think, in which users go on; that is measured beside it. A copy's CPU time is
that of the process that is copied and of the copy. ``python benchmarks/episodes.py [--json]``
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

from rich.console import Console
from rich.table import Table

from aiopslab.cloud.copies import Copy
from aiopslab.orchestrator.stages import Stage, run_episode

COPIES = 20
NAMESPACE = "test-hotel-reservation"
FIRST = "misconfig_app_hotel_res-detection-1"
SAME_FAULT = "misconfig_app_hotel_res-localization-1"
BUDGETS = {
    "problem from a baseline, CPU s": 1.0,
    "another task of the fault, CPU ms": 20.0,
    "copy with a first observation, CPU ms": 20.0,
}


class Looking:
    """Asks to see the pods, and tells at what CPU time of its process, and when, it saw them."""

    def __init__(self) -> None:
        self.seen: tuple[float, float] | None = None

    async def get_action(self, state: str) -> str:
        if self.seen is None and "Running" in state:
            self.seen = time.process_time(), time.perf_counter()
        return f'exec_shell("kubectl get pods -n {NAMESPACE}")'


def first_observation(stage: Stage, thinking_s: float) -> tuple[float, float]:
    """The CPU time of this process's life until an agent in it has seen the pods, and when that was."""
    agent = Looking()
    run_episode(stage, lambda: agent, max_steps=2, thinking_s=thinking_s)
    assert agent.seen is not None
    return agent.seen


def lived(_stage: Stage) -> float:
    """The CPU time of this process so far."""
    return time.process_time()


def copies(problem: Copy[Stage], thinking_s: float) -> tuple[float, float]:
    """Fresh copies of one prepared problem: CPU and wall milliseconds, the median ones."""
    cpu_s, wall_s = [], []
    for _ in range(COPIES):
        before_s, began = problem.call(lived), time.perf_counter()
        with problem.branch() as copy:
            copied_s, seen = copy.call(first_observation, thinking_s)
            wall_s.append(seen - began)
        cpu_s.append(problem.call(lived) - before_s + copied_s)
    return median(cpu_s) * 1e3, median(wall_s) * 1e3


def measure() -> dict[str, float]:
    """Each level is a process of its own, whose CPU time began with it."""
    with Copy.of(Stage, FIRST, 1) as baseline:
        figures = {"baseline from nothing, CPU s": baseline.call(lived)}
        with baseline.branch(Stage.stage, FIRST) as fault, fault.branch(Stage.pose, FIRST) as problem:
            figures["problem from a baseline, CPU s"] = fault.call(lived) + problem.call(lived)
            with fault.branch(Stage.pose, SAME_FAULT) as other:
                figures["another task of the fault, CPU ms"] = other.call(lived) * 1e3
            for name, thinking_s in (("", 0.0), (", after the usual thinking time", 5.0)):
                cpu_ms, wall_ms = copies(problem, thinking_s)
                figures[f"copy with a first observation{name}, CPU ms"] = cpu_ms
                figures[f"copy with a first observation{name}, wall ms"] = wall_ms
    return figures


def main() -> int:
    figures = measure()
    ok = all(figures[name] <= budget for name, budget in BUDGETS.items())
    if "--json" in sys.argv:
        print(json.dumps({"figures": figures, "ok": ok}, indent=1))
    else:
        table = Table("figure", "measured", "budget", title="prepared problems")
        for name, value in figures.items():
            table.add_row(name, f"{value:.3g}", f"{BUDGETS[name]:g}" if name in BUDGETS else "")
        Console(width=110).print(table)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())

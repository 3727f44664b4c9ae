"""A working day of day-long problems at their default load: eight hours of virtual time, and whether the last hour is as fast as the first.

Times are CPU time. ``python benchmarks/day.py [--json] [--short]``
"""

from __future__ import annotations

import sys

from _measure import Stopwatch, peak_memory_mb
from _report import Budget, Report, find_missed, run, tabulate_figures

from aiopslab.orchestrator.stages import Stage, Stages

PROBLEMS = {
    "HotelReservation": "worker_leak_hotel_res-prediction",
    "SocialNetwork": "worker_leak_social_net-prediction",
}
HOURS = 8
HOUR_S = 3_600.0
BUDGETS = {"a working day, CPU min": Budget(7.0), "last hour to first": Budget(2.0)}


def pass_day(stage: Stage, hour_s: float) -> dict[str, float]:
    """Let a day pass in a prepared world."""
    hours = []
    for _ in range(HOURS):
        watch = Stopwatch()
        stage.environment.run_for(hour_s)
        hours.append(watch.cpu_s)
    return {
        "a working day, CPU min": sum(hours) / 60,
        "first hour, CPU s": hours[0],
        "last hour, CPU s": hours[-1],
        "last hour to first": hours[-1] / hours[0],
        "peak memory, MB": peak_memory_mb(),
    }


def measure(short: bool) -> Report:
    figures = {}
    with Stages() as stages:
        for name, problem in PROBLEMS.items():
            with stages.episode(problem) as copy:
                figures[name] = copy.call(pass_day, 3.0 if short else HOUR_S)
    missed = {
        f"{name}: {figure}": value
        for name, found in figures.items()
        for figure, value in find_missed(found, BUDGETS).items()
    }
    table = tabulate_figures(f"{HOURS} hours", figures, BUDGETS)
    return Report(figures, [table], missed)


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))

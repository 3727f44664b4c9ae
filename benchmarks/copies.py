"""The time from requesting a copy of a prepared world to the first observation in it.

The budget is on CPU time, of the copy and of the process that is copied. ``python benchmarks/copies.py [--json] [--short]``
"""

from __future__ import annotations

import sys
import time
from statistics import median

from _measure import Stopwatch
from _report import Budget, Report, find_missed, run, tabulate_figures

from aiopslab.cloud.scenarios import SyntheticCloud, build_synthetic_cloud, take_first_observation
from simcloud.world.copies import Copy

COPIES = 20
SETTLE_S = 120.0
BUDGETS = {"first observation, CPU ms, median": Budget(20.0)}


def read_cpu_s(_cloud: SyntheticCloud) -> float:
    """Return the CPU time that this process has used since it was forked or started."""
    return time.process_time()


def observe(cloud: SyntheticCloud) -> float:
    """Take a first observation and return the CPU time that this copy has used."""
    assert take_first_observation(cloud)
    return time.process_time()


def measure(short: bool) -> Report:
    copies, settle_s = (2, 2.0) if short else (COPIES, SETTLE_S)
    cpu_ms, wall_ms = [], []
    with Copy.of(build_synthetic_cloud, 1, 27, 10.0, settle_s=settle_s) as prepared:
        prepared_s = prepared.call(read_cpu_s)
        for _ in range(copies):
            before_s, watch = prepared.call(read_cpu_s), Stopwatch()
            with prepared.branch() as copy:
                copy_s = copy.call(observe)
                wall_ms.append(watch.wall_s * 1e3)
            cpu_ms.append((copy_s + prepared.call(read_cpu_s) - before_s) * 1e3)
    figures = {
        "world prepared, CPU s": prepared_s,
        "first observation, CPU ms, median": median(cpu_ms),
        "first observation, CPU ms, worst": max(cpu_ms),
        "first observation, wall ms, median": median(wall_ms),
        "first observation, wall ms, worst": max(wall_ms),
    }
    table = tabulate_figures(f"{copies} copies of a prepared world", {"measured": figures}, BUDGETS)
    return Report(figures, [table], find_missed(figures, BUDGETS))


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))

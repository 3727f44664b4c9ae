"""Environments for training: time of a reset, steps per second with one and two members, and growth of memory.

``python benchmarks/env.py [--json] [--short]``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from statistics import median, quantiles

from _measure import read_tree_mb
from _report import Report, run, tabulate_figures

from aiopslab.env import IncidentEnv, VectorIncidentEnv

PROBLEM = "scale_pod_zero_social_net-detection-1"
LOOK = 'exec_shell("kubectl get pods -n test-social-network")'
EPISODES, GROWTH_EPISODES, STEPS = 200, 10_000, 300


def measure_resets(episodes: int, growth: int) -> Mapping[str, float]:
    """Measure episodes of one step each."""
    with IncidentEnv([PROBLEM]) as env:
        for _ in range(3):
            env.reset()
        resets_ms = []
        for _ in range(episodes):
            began = time.perf_counter()
            env.reset()
            resets_ms.append((time.perf_counter() - began) * 1e3)
            env.step(LOOK)
        before_mb = read_tree_mb()
        for _ in range(growth):
            env.reset()
            env.step(LOOK)
        return {
            "reset, ms, p50": median(resets_ms),
            "reset, ms, p99": quantiles(resets_ms, n=100)[98] if episodes > 1 else resets_ms[0],
            f"growth of memory in {growth} resets and steps, MB": read_tree_mb() - before_mb,
        }


def measure_steps(members: int, steps: int) -> float:
    """Return the steps per second of some members together."""
    with VectorIncidentEnv(members, [PROBLEM], max_steps=steps + 1) as vector:
        vector.reset()
        began = time.perf_counter()
        for _ in range(steps):
            vector.step([LOOK] * members)
        return members * steps / (time.perf_counter() - began)


def measure(short: bool) -> Report:
    episodes, growth, steps = (2, 2, 2) if short else (EPISODES, GROWTH_EPISODES, STEPS)
    figures = {
        **measure_resets(episodes, growth),
        **{f"steps per second, {members} members": measure_steps(members, steps) for members in (1, 2)},
    }
    return Report(figures, [tabulate_figures("environments for training", {"measured": figures})])


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))

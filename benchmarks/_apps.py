"""An application with users on it: from nothing to a prepared problem, one request with everything on, copies, memory.

Everything is on: spans through the application's own Jaeger, metrics scraped and rules evaluated, logs on disk, the
databases' journals. Each world lives in a process of its own. Times with a budget are CPU time; a copy's is what it uses
from when it is asked for, where one is kept ready (``episodes.py`` tells what that costs in all).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from aiopslab.apps.base import Application
from aiopslab.cloud.apps import deploy
from aiopslab.cloud.environment import SYSTEM_S, Environment
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.generators.workload.shapes import RATE
from simcloud.world.copies import Copy

RATES = {RATE: 300.0, 50.0: 120.0, 100.0: 60.0}
"""Requests a second, and for how many virtual seconds they are measured."""

SOAK_S = 60.0
COPIES = 20
BETWEEN_S = 0.1
"""A copy is asked for when the one before it was worked with for a while."""
PROBLEMS = 5
BUDGETS = {
    "ready, CPU s": 4.0,
    "problem from a baseline, CPU s": 1.0,
    "copy with a first observation, CPU ms": 20.0,
    "memory, MB": 150.0,
    "CPU of a request among the most to among the fewest": 1.0,
    "memory of a request among the most to among the fewest": 1.25,  # what is freed meanwhile hides some at few
}
REQUEST_BUDGET_MS = 1.0
SPEED_BUDGET = 100.0


class Spent:
    """CPU and wall time since it was made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def cpu_s(self) -> float:
        return time.process_time() - self._cpu

    @property
    def wall_s(self) -> float:
        return time.perf_counter() - self._wall


@dataclass
class Prepared:
    """A world, and what it took to prepare it."""

    environment: Environment
    cpu_s: float
    wall_s: float


def ready(app: Application) -> Prepared:
    """All pods of the application run; nobody uses it yet."""
    spent = Spent()
    environment = Environment(app, seed=1)
    environment.run_for(SYSTEM_S)
    deploy(environment.world, environment.cluster, environment.app)
    return Prepared(environment, spent.cpu_s, spent.wall_s)


def settled(app: Application, rate: float) -> Prepared:
    """With users on it, the baseline recorded, and a host for whoever comes to look."""
    spent = Spent()
    environment = Environment(app, seed=1, rate=rate)
    environment.settle()
    environment.terminal()
    return Prepared(environment, spent.cpu_s, spent.wall_s)


def preparation(prepared: Prepared) -> tuple[float, float]:
    return prepared.cpu_s, prepared.wall_s


def requests(prepared: Prepared, virtual_s: float) -> dict[str, float]:
    """What users' requests cost, and how users fare."""
    environment, results = prepared.environment, prepared.environment.users.results
    since, done, held, spent = environment.now, len(results), resident_bytes(), Spent()
    environment.run_for(virtual_s)
    cpu_s, wall_s = spent.cpu_s, spent.wall_s
    finished = len(results) - done
    fared = results.between(since, environment.now - environment.timeout_s)
    assert fared.errors == 0, fared.kinds
    return {
        "CPU ms/request": cpu_s / finished * 1e3,
        "wall ms/request": wall_s / finished * 1e3,
        "virtual s/CPU s": virtual_s / cpu_s,
        "virtual s/wall s": virtual_s / wall_s,
        "p50, ms": fared.p50_s * 1e3,
        "p99, ms": fared.p99_s * 1e3,
        "KB/request": (resident_bytes() - held) / finished / 1e3,
        "memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def resident_bytes() -> int:
    """What this process holds of memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def pose(prepared: Prepared, component: str) -> float:
    """Break something and let it show; the CPU time it took."""
    spent = Spent()
    ScalePodZero(component).inject(prepared.environment)
    prepared.environment.run_for(SOAK_S)
    return spent.cpu_s


def observe(prepared: Prepared) -> float:
    """What an agent might type first; the CPU time it took."""
    spent, environment = Spent(), prepared.environment
    seen = environment.terminal().run(f"kubectl get pods -n {environment.namespace}")
    assert seen.stdout.count(b"Running") == len(environment.app.components)
    return spent.cpu_s


def copies(baseline: Copy[Prepared], broken: str) -> dict[str, float]:
    """Problems and episodes from a shared baseline."""
    posed_cpu, posed_wall, seen_cpu, seen_wall = [], [], [], []
    for _ in range(PROBLEMS):
        spent = Spent()
        with baseline.branch() as problem:
            posed_cpu.append(problem.call(pose, broken))
            posed_wall.append(spent.wall_s)
    baseline.keep_spare(observe)
    for _ in range(COPIES):
        time.sleep(BETWEEN_S)
        spent = Spent()
        with baseline.branch() as episode:
            seen_cpu.append(episode.call(observe))
            seen_wall.append(spent.wall_s)
    baseline.keep_spare(None)
    return {
        "problem from a baseline, CPU s": median(posed_cpu),
        "problem from a baseline, wall s": median(posed_wall),
        "copy with a first observation, CPU ms": median(seen_cpu) * 1e3,
        "copy with a first observation, wall ms": median(seen_wall) * 1e3,
    }


def measure(app: Application, broken: str) -> tuple[dict[str, float], list[dict[str, float]]]:
    figures: dict[str, float] = {}
    with Copy.of(ready, app) as copy:
        figures["ready, CPU s"], figures["ready, wall s"] = copy.call(preparation)
    rows = []
    for rate, virtual_s in RATES.items():
        with Copy.of(settled, app, rate) as baseline:
            if rate == RATE:
                figures["settled, CPU s"], figures["settled, wall s"] = baseline.call(preparation)
                figures |= copies(baseline, broken)
            rows.append({"requests/s": rate} | baseline.call(requests, virtual_s))
    few, many = rows[0], rows[-1]
    figures["memory, MB"] = few["memory, MB"]
    for name, column in (("CPU", "CPU ms/request"), ("memory", "KB/request")):
        figures[f"{name} of a request among the most to among the fewest"] = many[column] / few[column]
    return figures, rows


def kept(figures: dict[str, float], rows: list[dict[str, float]]) -> bool:
    """Whether all budgets are."""
    return (
        all(figures[name] <= budget for name, budget in BUDGETS.items())
        and all(row["CPU ms/request"] <= REQUEST_BUDGET_MS for row in rows)
        and rows[0]["virtual s/CPU s"] >= SPEED_BUDGET
    )


def run(app: Application, broken: str) -> int:
    """Measure an application; problems break the named component of it."""
    figures, rows = measure(app, broken)
    ok = kept(figures, rows)
    if "--json" in sys.argv:
        print(json.dumps({"figures": figures, "requests": rows, "ok": ok}, indent=1))
    else:
        show(type(app).__name__, figures, rows)
    return 0 if ok else 1


def show(title: str, figures: dict[str, float], rows: list[dict[str, float]]) -> None:
    console = Console(width=130)
    whole = Table("figure", "measured", "budget", title=title)
    for name, value in figures.items():
        whole.add_row(name, _short(value), _short(BUDGETS[name]) if name in BUDGETS else "")
    console.print(whole)
    table = Table(
        *rows[0], title=f"requests (budget {REQUEST_BUDGET_MS:g} ms, {SPEED_BUDGET:g} times real time)"
    )
    for row in rows:
        table.add_row(*map(_short, row.values()))
    console.print(table)


_short: Callable[[Any], str] = "{:.3g}".format

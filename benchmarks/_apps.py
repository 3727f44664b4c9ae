"""An application with users: from nothing to a prepared problem, the cost of a request, copies, memory.

Everything is on: spans through the Jaeger of the application, scraped metrics, evaluated rules, logs on disk, the journals of
the databases. Each world lives in a process of its own. Times with a budget are CPU time; that of a copy is what it
uses from the moment it is requested, while a spare is kept ready (``episodes.py`` measures what the spare itself costs).

Every time is the least of several: equal worlds do exactly the same, so the rest is what other work on the machine has added.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from _measure import Stopwatch, peak_memory_mb, resident_bytes
from _report import Budget, Report, find_missed, run as run_benchmark, tabulate_figures, tabulate_rows

from aiopslab.apps.base import Application
from aiopslab.cloud.environment import Environment
from aiopslab.generators.fault.scale_pod_zero import ScalePodZero
from aiopslab.generators.workload.shapes import RATE
from aiopslab.utils import pause_garbage_collection
from simcloud.world.copies import Copy

BETWEEN_S = 0.1
"""Pause before a copy is requested: in use, an episode takes longer than this."""
DAY_S = 8 * 3600.0


class Sizes(NamedTuple):
    """How much is measured."""

    rates: dict[float, float]
    """Virtual seconds for each number of requests per second, the fewest first."""
    soak_s: float
    worlds: int
    problems: int
    copies: int
    with_baseline: bool = True


FULL = Sizes({RATE: 300.0, 50.0: 120.0, 100.0: 60.0}, soak_s=60.0, worlds=3, problems=5, copies=20)
SHORT = Sizes({RATE: 12.0}, soak_s=5.0, worlds=1, problems=1, copies=1, with_baseline=False)

CPU_GROWTH, MEMORY_GROWTH = "CPU/request, most to fewest requests", "memory/request, most to fewest requests"
DAY = f"{DAY_S / 3600:g} hours at {RATE:g} requests/s, extrapolated, CPU min"
BUDGETS = {
    "problem from nothing, CPU s": Budget(4.0),
    "problem from a baseline, CPU s": Budget(1.0),
    "copy with a first observation, CPU ms": Budget(20.0),
    "peak memory, MB": Budget(200.0),  # with the monitoring stack as pods
    CPU_GROWTH: Budget(1.0),
    MEMORY_GROWTH: Budget(1.25),  # at few requests, memory that is freed meanwhile hides some of it
    DAY: Budget(5.0),
}
REQUEST = Budget(1.0)
SPEED = Budget(least=100.0)


@dataclass
class Prepared:
    """A world, and the time that preparing it took."""

    environment: Environment
    cpu_s: float
    wall_s: float


@pause_garbage_collection()
def prepare(app: Application, rate: float, with_baseline: bool) -> Prepared:
    """Return a world with users, a recorded baseline, and a terminal for the agent; the collector pauses, as in a run."""
    watch = Stopwatch()
    environment = Environment(app, seed=1, rate=rate)
    if with_baseline:
        environment.settle()
    else:
        environment.open()
    environment.terminal()
    return Prepared(environment, watch.cpu_s, watch.wall_s)


def read_preparation(prepared: Prepared) -> tuple[float, float]:
    return prepared.cpu_s, prepared.wall_s


def measure_requests(prepared: Prepared, virtual_s: float) -> dict[str, float]:
    """Measure the cost of requests and the latency that users see."""
    environment, results = prepared.environment, prepared.environment.users.results
    since, done, held_bytes, watch = environment.now, len(results), resident_bytes(), Stopwatch()
    environment.run_for(virtual_s)
    cpu_s, wall_s = watch.cpu_s, watch.wall_s
    finished = len(results) - done
    summary = results.between(since, environment.now - environment.timeout_s)
    assert summary.errors == 0, summary.kinds
    return {
        "CPU ms/request": cpu_s / finished * 1e3,
        "wall ms/request": wall_s / finished * 1e3,
        "virtual s/CPU s": virtual_s / cpu_s,
        "virtual s/wall s": virtual_s / wall_s,
        "p50, ms": summary.p50_s * 1e3,
        "p99, ms": summary.p99_s * 1e3,
        "KB/request": (resident_bytes() - held_bytes) / finished / 1e3,
        "peak memory, MB": peak_memory_mb(),
    }


@pause_garbage_collection()
def pose(prepared: Prepared, component: str, soak_s: float) -> float:
    """Inject a fault, let it take effect, and return the CPU time that this took."""
    watch = Stopwatch()
    ScalePodZero(component).inject(prepared.environment)
    prepared.environment.run_for(soak_s)
    return watch.cpu_s


def observe(prepared: Prepared) -> float:
    """List the pods, as an agent does first, and return the CPU time that this took."""
    watch, environment = Stopwatch(), prepared.environment
    done = environment.terminal().run(f"kubectl get pods -n {environment.namespace} --no-headers")
    cpu_s, pods = watch.cpu_s, done.stdout.decode().splitlines()
    assert len(pods) >= len(environment.app.components) and all("Running" in pod for pod in pods), pods
    return cpu_s


def measure_copies(baseline: Copy[Prepared], broken: str, sizes: Sizes) -> dict[str, float]:
    """Measure problems and episodes that start from a shared baseline."""
    posed_cpu, posed_wall, seen_cpu, seen_wall = [], [], [], []
    for _ in range(sizes.problems):
        watch = Stopwatch()
        with baseline.branch() as problem:
            posed_cpu.append(problem.call(pose, broken, sizes.soak_s))
            posed_wall.append(watch.wall_s)
    baseline.keep_spare(observe)
    for _ in range(sizes.copies):
        time.sleep(BETWEEN_S)
        watch = Stopwatch()
        with baseline.branch() as episode:
            seen_cpu.append(episode.call(observe))
            seen_wall.append(watch.wall_s)
    baseline.keep_spare(None)
    return {
        "problem from a baseline, CPU s": min(posed_cpu),
        "problem from a baseline, wall s": min(posed_wall),
        "copy with a first observation, CPU ms": min(seen_cpu) * 1e3,
        "copy with a first observation, wall ms": min(seen_wall) * 1e3,
    }


def measure(app: Application, broken: str, short: bool) -> Report:
    sizes = SHORT if short else FULL
    figures: dict[str, float] = {}
    rows = []
    for rate, virtual_s in sizes.rates.items():
        preparations, rounds = [], []
        for number in range(sizes.worlds):
            with Copy.of(prepare, app, rate, sizes.with_baseline) as baseline:
                preparations.append(baseline.call(read_preparation))
                if rate == RATE and number == 0:
                    figures |= measure_copies(baseline, broken, sizes)
                rounds.append(baseline.call(measure_requests, virtual_s))
        if rate == RATE:
            settled_s, figures["baseline from nothing, wall s"] = min(preparations)
            figures["baseline from nothing, CPU s"] = settled_s
            figures["problem from nothing, CPU s"] = settled_s + figures["problem from a baseline, CPU s"]
        rows.append({"requests/s": rate} | min(rounds, key=itemgetter("CPU ms/request")))
    few, many = rows[0], rows[-1]
    figures["peak memory, MB"] = few["peak memory, MB"]
    figures[CPU_GROWTH] = many["CPU ms/request"] / few["CPU ms/request"]
    figures[MEMORY_GROWTH] = many["KB/request"] / few["KB/request"] if few["KB/request"] else 1.0
    figures[DAY] = DAY_S / few["virtual s/CPU s"] / 60
    missed = find_missed(figures, BUDGETS)
    for row in rows:
        missed |= REQUEST.find_missed(
            f"CPU ms/request at {row['requests/s']:g} requests/s", row["CPU ms/request"]
        )
    missed |= SPEED.find_missed(f"virtual s/CPU s at {RATE:g} requests/s", few["virtual s/CPU s"])
    title = f"Requests (CPU ms/request: {REQUEST}; virtual s/CPU s of the first row: {SPEED})"
    return Report(
        {"figures": figures, "requests": rows},
        [
            tabulate_figures(type(app).__name__, {"measured": figures}, BUDGETS),
            tabulate_rows(title, rows),
        ],
        missed,
    )


def run(doc: str | None, app: Application, broken: str) -> int:
    """Measure an application; problems scale the named component to zero."""
    return run_benchmark(doc, partial(measure, app, broken))

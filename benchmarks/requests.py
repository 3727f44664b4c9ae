"""The cost of one user request through the synthetic application, and its growth with services and load.

Everything is on: spans, metrics, CPU accounting, logs on disk, the journal of the document store. The budget for a
request through 27 services is on the CPU time of this process: it has one thread, so this is the wall time on an idle machine.
Growth is judged by the CPU time per span, because a request through more services makes more calls.
``python benchmarks/requests.py [--json] [--short]``
"""

from __future__ import annotations

import sys
from typing import Any

from _measure import Stopwatch, peak_memory_mb
from _report import Budget, Report, run, tabulate_rows

from aiopslab.apps.base import Journey
from aiopslab.cloud.scenarios import READ, WRITE, build_synthetic_cloud

MIXED = (READ, WRITE)
REQUEST_MS = Budget(1.0)
GROWTH = Budget(2.0)
WARM_UP_S = 5.0
LOADS = (
    (27, 10.0, MIXED, 1500),
    (27, 10.0, (READ,), 1000),
    (27, 10.0, (WRITE,), 1000),
    (27, 1.0, MIXED, 300),
    (27, 100.0, MIXED, 3000),
    (10, 10.0, MIXED, 1000),
    (100, 10.0, MIXED, 1000),
    (1000, 10.0, MIXED, 300),
)
"""Services, requests per second, journeys, and the number of requests that are measured."""
SHORT = ((27, 10.0, MIXED, 50), (10, 10.0, MIXED, 20), (100, 10.0, (READ,), 20))


def measure_requests(
    services: int, rate: float, journeys: tuple[Journey, ...], requests: int
) -> dict[str, Any]:
    watch = Stopwatch()
    cloud = build_synthetic_cloud(1, services, rate, journeys)
    ready_s = watch.cpu_s
    cloud.world.run_for(WARM_UP_S)
    done, spans = len(cloud.users.results), len(cloud.world.emitter.traces)
    watch, virtual_s = Stopwatch(), requests / rate
    cloud.world.run_for(virtual_s)
    wall_s, cpu_s = watch.wall_s, watch.cpu_s
    finished, spans = len(cloud.users.results) - done, len(cloud.world.emitter.traces) - spans
    assert all(outcome.error is None for outcome in cloud.users.results.outcomes()), "requests failed"
    return {
        "services": services,
        "requests/s": rate,
        "journeys": "+".join(journey.name for journey in journeys),
        "ready, CPU s": ready_s,
        "spans/request": spans / finished,
        "CPU us/span": cpu_s * 1e6 / max(1, spans),
        "CPU ms/request": cpu_s / finished * 1e3,
        "wall ms/request": wall_s / finished * 1e3,
        "virtual s/CPU s": virtual_s / cpu_s,
        "peak memory, MB": peak_memory_mb(),
    }


def measure(short: bool) -> Report:
    rows = [measure_requests(*load) for load in (SHORT if short else LOADS)]
    spans_us = {row["services"]: row["CPU us/span"] for row in rows[-3:]}
    fewest, most = min(spans_us), max(spans_us)
    growth = spans_us[most] / spans_us[fewest]
    name = f"CPU time per span, {most:,} services to {fewest}"
    return Report(
        {"requests": rows, "growth": growth},
        [
            tabulate_rows(f"User requests (CPU ms/request of the first row: {REQUEST_MS})", rows),
            f"{name}: {growth:.2f}x ({GROWTH})",
        ],
        REQUEST_MS.find_missed("CPU ms/request", rows[0]["CPU ms/request"])
        | GROWTH.find_missed(name, growth),
    )


if __name__ == "__main__":
    sys.exit(run(__doc__, measure))

"""Wall time per user request through the synthetic application, and how it grows.

Everything is on: spans, metrics, CPU accounting, logs on disk, the document store's journal. The budget is
1 ms for a request through 27 services, judged by this process's own CPU time: it is single-threaded, so on
a quiet machine that is the wall time, and on a busy one it does not count the others. ``python benchmarks/requests.py [--json]``
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from aiopslab.apps.base import Journey
from aiopslab.cloud.scenarios import READ, WRITE, synthetic_cloud

BUDGET_MS = 1.0
WARM_UP_S = 5.0


def measure(services: int, rate: float, journeys: tuple[Journey, ...], requests: int) -> dict[str, Any]:
    begun = time.perf_counter()
    cloud = synthetic_cloud(1, services, rate, journeys)
    ready_s = time.perf_counter() - begun
    cloud.world.run_for(WARM_UP_S)
    done, spans = len(cloud.users.results), len(cloud.world.emitter.traces)
    start, cpu_start, virtual_s = time.perf_counter(), time.process_time(), requests / rate
    cloud.world.run_for(virtual_s)
    wall_s, cpu_s = time.perf_counter() - start, time.process_time() - cpu_start
    finished = len(cloud.users.results) - done
    assert all(outcome.error is None for outcome in cloud.users.results.outcomes()), "requests failed"
    return {
        "services": services,
        "rate": rate,
        "journeys": "+".join(journey.name for journey in journeys),
        "ready_s": ready_s,
        "spans_per_request": (len(cloud.world.emitter.traces) - spans) / finished,
        "cpu_us_per_span": cpu_s * 1e6 / max(1, len(cloud.world.emitter.traces) - spans),
        "cpu_ms_per_request": cpu_s / finished * 1e3,
        "wall_ms_per_request": wall_s / finished * 1e3,
        "times_real_time": virtual_s / wall_s,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> int:
    mixed = (READ, WRITE)
    rows = [
        measure(27, 10.0, mixed, 1500),
        measure(27, 10.0, (READ,), 1000),
        measure(27, 10.0, (WRITE,), 1000),
        measure(27, 1.0, mixed, 300),
        measure(27, 100.0, mixed, 3000),
        measure(10, 10.0, mixed, 1000),
        measure(100, 10.0, mixed, 1000),
        measure(1000, 10.0, mixed, 300),
    ]
    ok = rows[0]["cpu_ms_per_request"] <= BUDGET_MS
    if "--json" in sys.argv:
        print(json.dumps({"requests": rows, "ok": ok}))
    else:
        Console().print(table(rows))
    return 0 if ok else 1


def table(rows: list[dict[str, Any]]) -> Table:
    result = Table(title=f"Wall time per user request (budget {BUDGET_MS:g} ms at 27 services, mixed)")
    for name in rows[0]:
        result.add_column(name, justify="right")
    for row in rows:
        result.add_row(
            *(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values())
        )
    return result


if __name__ == "__main__":
    sys.exit(main())

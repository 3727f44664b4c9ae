"""Time from asking for a copy of a prepared world to the first observation in it (budget 20 ms).

``python benchmarks/copies.py [--json]``
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

from rich.console import Console

from aiopslab.cloud.scenarios import first_observation, synthetic_cloud
from simcloud.world.copies import Copy

BUDGET_MS = 20.0
COPIES = 20


def main() -> int:
    begun = time.perf_counter()
    times = []
    with Copy.of(synthetic_cloud, 1, 27, 10.0, settle_s=120.0) as prepared:
        ready_s = time.perf_counter() - begun
        for _ in range(COPIES):
            start = time.perf_counter()
            with prepared.branch() as copy:
                copy.call(first_observation)
                times.append((time.perf_counter() - start) * 1e3)
    figures = {
        "prepared_in_s": round(ready_s, 2),
        "first_observation_ms_median": round(median(times), 2),
        "first_observation_ms_worst": round(max(times), 2),
    }
    if "--json" in sys.argv:
        print(json.dumps(figures))
    else:
        Console().print(f"{COPIES} copies of a prepared world (budget {BUDGET_MS:g} ms): {figures}")
    return 0 if median(times) <= BUDGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())

"""What benchmarks of stores share: a store is filled at several sizes, asked, and compared with itself."""

from __future__ import annotations

import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

Row = dict[str, Any]


def per_s(ask: Callable[[], object], least_s: float) -> float:
    """How often a question is answered in a second of CPU time, asked for at least so long."""
    count, begun = 0, time.process_time()
    while (spent_s := time.process_time() - begun) < least_s or count < 3:
        ask()
        count += 1
    return count / spent_s


def traced_bytes(fill: Callable[[], object]) -> int:
    """What is kept in memory of what a function returns, all told."""
    tracemalloc.start()
    kept = fill()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return held


def compare(
    name: str,
    measure: Callable[[int], Row],
    sizes: tuple[int, int],
    growth: Callable[[list[Row]], dict[str, float]],
    keeps: Callable[[list[Row], dict[str, float]], bool],
    table: Callable[[list[Row], dict[str, float]], Table],
) -> int:
    """Measure at both sizes and tell; the exit code, 1 when a budget is missed."""
    gc.disable()  # as in a running world, whose kernel collects at its own times
    rows = [measure(size) for size in sizes]
    grown = growth(rows)
    ok = keeps(rows, grown)
    if "--json" in sys.argv:
        print(json.dumps({name: rows, "growth": grown, "ok": ok}))
    else:
        Console().print(table(rows, grown))
    return 0 if ok else 1

"""Users' requests over time: rates, errors and latencies in buckets of equal length."""

from __future__ import annotations

from math import ceil
from typing import Any, Final

from aiopslab.generators.workload import OPEN, Results

MAX_BUCKETS: Final = 240
LENGTHS_S: Final = (5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0)


def build_user_series(results: Results, start_s: float, end_s: float, zero_s: float) -> dict[str, Any]:
    """Return the length of the buckets and a row for each that is complete; times are relative to ``zero_s``."""
    span_s = max(end_s - start_s, LENGTHS_S[0])
    length_s = next((length for length in LENGTHS_S if span_s / length <= MAX_BUCKETS), LENGTHS_S[-1])
    count = ceil(span_s / length_s)
    start_s = end_s - count * length_s
    requests, errors = [0] * count, [0] * count
    latencies: list[list[float]] = [[] for _ in range(count)]
    for outcome in results.outcomes(start_s, end_s):
        index = min(int((outcome.start - start_s) / length_s), count - 1)
        requests[index] += 1
        errors[index] += outcome.error is not None
        if outcome.latency_s != OPEN:
            latencies[index].append(outcome.latency_s)
    rows = []
    for index in range(count):
        ordered = sorted(latencies[index])
        rows.append(
            {
                "at_s": round(start_s - zero_s + index * length_s, 3),
                "rate": requests[index] / length_s,
                "errors": errors[index] / length_s,
                "p50_s": _get_quantile(ordered, 0.5),
                "p99_s": _get_quantile(ordered, 0.99),
            }
        )
    return {"bucket_s": length_s, "users": rows}


def _get_quantile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 6) if ordered else None

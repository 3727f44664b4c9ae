"""An hour of samples with everything that makes a query language difficult.

Counters that reset, series that end (with and without saying so) and come back, gaps, NaN and infinities,
negative numbers, histograms with odd buckets, metrics that differ only by name.
"""

from __future__ import annotations

import math

from simcloud.telemetry.metrics import STALE, MetricStore

START_MS = 1_700_000_000_000
STEP_MS = 15_000
STEPS = 240
END_MS = START_MS + STEP_MS * (STEPS - 1)


def store_with_samples() -> MetricStore:
    store = MetricStore()
    _counters(store)
    _gauges(store)
    _comers_and_goers(store)
    _histograms(store)
    return store


def _add(store: MetricStore, name: str, labels: dict[str, str], values: dict[int, float]) -> None:
    """A series by its values at steps."""
    series = store.series(name, tuple(sorted(labels.items())))
    for step, value in sorted(values.items()):
        store.append(series, START_MS + step * STEP_MS, value)


def _counters(store: MetricStore) -> None:
    for instance in range(3):
        for method in ("GET", "POST"):
            for number, code in enumerate(("200", "404", "500")):
                rate = (instance + 1) * (3.5 if method == "GET" else 1.25) / (number * 4 + 1)
                total, values = 0.0, {}
                for step in range(STEPS):
                    total += rate * (1 + (step * 7 + instance) % 5)
                    if step == 60 * (instance + 1) + number:
                        total = rate  # the process was restarted
                    values[step] = total
                labels = {"job": "api", "instance": f"10.0.0.{instance}:80", "method": method, "code": code}
                _add(store, "http_requests_total", labels, values)
    for cpu in ("0", "1"):
        for mode in ("idle", "user", "system"):
            values = {
                step: step * (0.1 if mode == "idle" else 0.07) * (int(cpu) + 1) for step in range(STEPS)
            }
            _add(
                store,
                "cpu_seconds_total",
                {"job": "node", "instance": "n1", "cpu": cpu, "mode": mode},
                values,
            )
    _add(store, "young_total", {"job": "api"}, {step: (step - 200) * 2.0 + 1 for step in range(200, STEPS)})
    _add(store, "late_start_total", {"job": "api"}, {step: 1e6 + step for step in range(220, STEPS)})
    _add(store, "big_total", {}, {step: 2.0**53 + step for step in range(STEPS)})


def _gauges(store: MetricStore) -> None:
    for index, room in enumerate(("kitchen", "hall", "attic", "cellar")):
        values = {step: 20 + index * 3 + (step * (index + 3) % 17) / 4 - step / 50 for step in range(STEPS)}
        _add(store, "temperature", {"room": room, "floor": str(index // 2)}, values)
    _add(
        store,
        "temperature",
        {"room": "oven", "floor": "0"},
        {s: math.nan if s > 200 else 180.0 for s in range(STEPS)},
    )
    _add(store, "balance", {"who": "anna"}, {step: -50.0 + step * 0.5 for step in range(STEPS)})
    _add(store, "balance", {"who": "bert"}, {step: 50.0 - step * 0.5 for step in range(STEPS)})
    _add(store, "limits", {"kind": "inf"}, dict.fromkeys(range(STEPS), math.inf))
    _add(store, "limits", {"kind": "minus"}, dict.fromkeys(range(STEPS), -math.inf))
    _add(store, "limits", {"kind": "nan"}, dict.fromkeys(range(STEPS), math.nan))
    _add(store, "limits", {"kind": "zero"}, dict.fromkeys(range(STEPS), 0.0))
    _add(store, "limits", {"kind": "tiny"}, dict.fromkeys(range(STEPS), 1.5e-9))
    _add(store, "limits", {"kind": "huge"}, dict.fromkeys(range(STEPS), 1.25e300))
    _add(store, "mixed", {}, {step: (math.nan, math.inf, 3.0, -math.inf)[step % 4] for step in range(STEPS)})
    _add(store, "constant", {"a": "1", "b": "2"}, dict.fromkeys(range(STEPS), 42.0))
    _add(store, "clock", {}, {step: (START_MS + step * STEP_MS) / 1000 for step in range(STEPS)})
    _add(store, "dates", {"case": "leap"}, dict.fromkeys(range(STEPS), 1_709_164_800.0))
    _add(store, "dates", {"case": "before"}, dict.fromkeys(range(STEPS), -86_401.5))
    _add(store, "dates", {"case": "newyear"}, dict.fromkeys(range(STEPS), 1_735_689_599.0))
    for instance in range(3):
        labels = {"instance": f"10.0.0.{instance}:80", "version": f"v{instance // 2}", "team": f"t{instance}"}
        _add(store, "build_info", labels, dict.fromkeys(range(STEPS), 1.0))
        _add(
            store,
            "up",
            {"job": "api", "instance": f"10.0.0.{instance}:80"},
            {s: float(s % 90 > 9 * instance) for s in range(STEPS)},
        )
    _add(store, "up", {"job": "node", "instance": "n1"}, dict.fromkeys(range(STEPS), 1.0))
    for name in ("twin_a", "twin_b"):
        _add(store, name, {"x": "1"}, {step: float(step % 7) for step in range(STEPS)})
    _add(store, "unicode", {"city": "Zürich", "quote": 'a"b\\c'}, dict.fromkeys(range(STEPS), 1.0))


def _comers_and_goers(store: MetricStore) -> None:
    ended = {step: float(step) for step in range(100)} | {100: STALE}
    _add(store, "pod_memory", {"pod": "ended"}, ended)
    _add(store, "pod_memory", {"pod": "returned"}, ended | {step: float(step) for step in range(130, STEPS)})
    _add(store, "pod_memory", {"pod": "vanished"}, {step: float(step) for step in range(150)})
    _add(store, "pod_memory", {"pod": "steady"}, dict.fromkeys(range(STEPS), 5.0))
    _add(store, "sparse", {"gap": "4m"}, {step: float(step) for step in range(0, STEPS, 16)})
    _add(store, "sparse", {"gap": "6m"}, {step: float(step) for step in range(0, STEPS, 24)})
    _add(store, "once", {}, {120: 7.0})
    _add(store, "flapping", {}, {step: STALE if step % 10 == 9 else float(step) for step in range(STEPS)})
    _add(store, "relay", {"id": "old"}, dict.fromkeys(range(80), 1.0) | {80: STALE})
    _add(store, "relay", {"id": "new"}, dict.fromkeys(range(80, STEPS), 2.0))


def _histograms(store: MetricStore) -> None:
    bounds = ("0.05", "0.1", "0.25", "0.5", "1", "2.5", "+Inf")
    for index, service in enumerate(("cart", "pay")):
        for number, bound in enumerate(bounds):
            share = (number + 1) ** (index + 1)
            values = {step: float(step * share) for step in range(STEPS)}
            _add(store, "latency_seconds_bucket", {"service": service, "le": bound}, values)
        _add(
            store,
            "latency_seconds_sum",
            {"service": service},
            {s: s * 3.7 * (index + 1) for s in range(STEPS)},
        )
        _add(
            store,
            "latency_seconds_count",
            {"service": service},
            {s: s * 7.0 ** (index + 1) for s in range(STEPS)},
        )
    odd = {"nan": [("1", 3.0), ("2", 3.0)], "dip": [("1", 5.0), ("2", 3.0), ("4", 6.0), ("+Inf", 8.0)],
           "negative": [("-2", 1.0), ("-1", 4.0), ("+Inf", 6.0)], "alone": [("+Inf", 5.0)],
           "empty": [("1", 0.0), ("+Inf", 0.0)], "twice": [("1", 2.0), ("1.0", 2.0), ("2", 7.0), ("+Inf", 9.0)],
           "words": [("many", 2.0), ("1", 1.0), ("+Inf", 2.0)], "zero": [("0", 3.0), ("5", 4.0), ("+Inf", 4.0)]}  # fmt: skip
    for case, buckets in odd.items():
        for bound, count in buckets:
            _add(store, "odd_bucket", {"case": case, "le": bound}, dict.fromkeys(range(STEPS), count))

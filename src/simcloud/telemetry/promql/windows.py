"""Functions of a range vector, from the points of a series to a number or None."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from simcloud.telemetry.promql.arithmetic import NAN, add_exactly, divide, quantile
from simcloud.telemetry.promql.values import Point, Window


def _extrapolate(window: Window, *, counter: bool, per_second: bool) -> float | None:
    """Return how much a series grew over the range.

    Samples seldom lie at the range's ends. Where the series seems to go on to an end it is continued up to it,
    otherwise by half a sample's distance; and a counter not to below zero.
    """
    times, values = window.times, window.values
    if len(values) < 2:
        return None
    first = values[0]
    grown = values[-1] - first
    if counter and sorted(values) != values:  # that is fast where nothing was reset
        for before, value in pairwise(values):
            if value < before:
                grown += before
    to_start_s = (window.base_ms + times[0] - window.start_ms) / 1000
    to_end_s = (window.end_ms - window.base_ms - times[-1]) / 1000
    sampled_s = (times[-1] - times[0]) / 1000
    distance_s = sampled_s / (len(values) - 1)
    if counter and grown > 0 and first >= 0:
        to_start_s = min(to_start_s, sampled_s * (first / grown))
    near_s = distance_s * 1.1
    covered_s = sampled_s
    covered_s += to_start_s if to_start_s < near_s else distance_s / 2
    covered_s += to_end_s if to_end_s < near_s else distance_s / 2
    factor = covered_s / sampled_s
    if per_second:
        factor /= (window.end_ms - window.start_ms) / 1000
    return grown * factor


def _rate(window: Window, t_ms: int) -> float | None:
    return _extrapolate(window, counter=True, per_second=True)


def _increase(window: Window, t_ms: int) -> float | None:
    return _extrapolate(window, counter=True, per_second=False)


def _delta(window: Window, t_ms: int) -> float | None:
    return _extrapolate(window, counter=False, per_second=False)


def _irate(window: Window, t_ms: int) -> float | None:
    if len(window.values) < 2:
        return None
    before, last = window.values[-2:]
    grown = last if last < before else last - before
    return grown / ((window.times[-1] - window.times[-2]) / 1000)


def _idelta(window: Window, t_ms: int) -> float | None:
    return None if len(window.values) < 2 else window.values[-1] - window.values[-2]


def _line(points: list[Point], origin_ms: int) -> tuple[float, float]:
    """Slope per second and value at a time of the straight line that fits best."""
    constant = all(value == points[0][1] for _, value in points[1:])
    if constant:
        return (NAN, NAN) if math.isinf(points[0][1]) else (0.0, points[0][1])
    sum_x = rest_x = sum_y = rest_y = sum_xy = rest_xy = sum_xx = rest_xx = 0.0
    for time_ms, y in points:
        x = (time_ms - origin_ms) / 1e3
        sum_x, rest_x = add_exactly(x, sum_x, rest_x)
        sum_y, rest_y = add_exactly(y, sum_y, rest_y)
        sum_xy, rest_xy = add_exactly(x * y, sum_xy, rest_xy)
        sum_xx, rest_xx = add_exactly(x * x, sum_xx, rest_xx)
    sum_x, sum_y, sum_xy, sum_xx = sum_x + rest_x, sum_y + rest_y, sum_xy + rest_xy, sum_xx + rest_xx
    count = float(len(points))
    slope = divide(sum_xy - sum_x * sum_y / count, sum_xx - sum_x * sum_x / count)
    return slope, sum_y / count - slope * sum_x / count


def _deriv(window: Window, t_ms: int) -> float | None:
    return None if len(window.values) < 2 else _line(window.points, window.base_ms + window.times[0])[0]


def _predict_linear(window: Window, t_ms: int, ahead_s: float) -> float | None:
    if len(window.values) < 2:
        return None
    slope, value = _line(window.points, t_ms)
    return slope * ahead_s + value


def _changes(window: Window, t_ms: int) -> float | None:
    return float(sum(1 for a, b in pairwise(window.values) if a != b and (a == a or b == b)))


def _resets(window: Window, t_ms: int) -> float | None:
    return float(sum(1 for a, b in pairwise(window.values) if b < a))


def _sum(window: Window, t_ms: int) -> float | None:
    total = rest = 0.0
    for value in window.values:
        total, rest = add_exactly(value, total, rest)
    return total if math.isinf(total) else total + rest


def _avg(window: Window, t_ms: int) -> float | None:
    mean = rest = 0.0
    for count, value in enumerate(window.values, 1):
        if math.isinf(mean):
            if math.isinf(value) and (mean > 0) == (value > 0):
                continue
            if math.isfinite(value):
                continue
        mean, rest = add_exactly(value / count - mean / count, mean, rest)
    return mean if math.isinf(mean) else mean + rest


def _variance(window: Window, t_ms: int) -> float:
    mean = mean_rest = spread = spread_rest = 0.0
    for count, value in enumerate(window.values, 1):
        delta = value - (mean + mean_rest)
        mean, mean_rest = add_exactly(delta / count, mean, mean_rest)
        spread, spread_rest = add_exactly(delta * (value - (mean + mean_rest)), spread, spread_rest)
    return (spread + spread_rest) / len(window.values)


def _stddev(window: Window, t_ms: int) -> float | None:
    variance = _variance(window, t_ms)
    return variance if variance != variance else math.sqrt(variance)


def _min(window: Window, t_ms: int) -> float | None:
    least = NAN
    for value in window.values:
        if value < least or least != least:
            least = value
    return least


def _max(window: Window, t_ms: int) -> float | None:
    greatest = NAN
    for value in window.values:
        if value > greatest or greatest != greatest:
            greatest = value
    return greatest


def _quantile(window: Window, t_ms: int, q: float) -> float | None:
    return quantile(q, window.values)


FUNCTIONS: Final[dict[str, Callable[..., float | None]]] = {
    "rate": _rate,
    "increase": _increase,
    "delta": _delta,
    "irate": _irate,
    "idelta": _idelta,
    "deriv": _deriv,
    "predict_linear": _predict_linear,
    "changes": _changes,
    "resets": _resets,
    "sum_over_time": _sum,
    "avg_over_time": _avg,
    "min_over_time": _min,
    "max_over_time": _max,
    "count_over_time": lambda window, t_ms: float(len(window.values)),
    "last_over_time": lambda window, t_ms: window.values[-1],
    "present_over_time": lambda window, t_ms: 1.0,
    "stddev_over_time": _stddev,
    "stdvar_over_time": _variance,
    "quantile_over_time": _quantile,
}

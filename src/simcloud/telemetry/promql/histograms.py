"""Quantiles of classic histograms."""

from __future__ import annotations

import math
from bisect import bisect_left
from operator import itemgetter

from simcloud.telemetry.metrics import Labels
from simcloud.telemetry.promql.arithmetic import INF, NAN, divide
from simcloud.telemetry.promql.values import Prepared, Sample, Vector, list_labels, list_values

Bucket = tuple[float, float]
"""An upper bound and how many values are not above it."""
Histograms = list[tuple[Labels, list[tuple[float, int]]]]
"""The labels of each histogram, and its buckets' upper bounds in order, with the places of their samples in the vector."""


def histogram_quantile(q: float, vector: Vector, prepared: Prepared[Histograms]) -> Vector:
    """Return a quantile of each histogram; ``prepared`` keeps which samples belong to it."""
    histograms = prepared.get(list_labels(vector), _find_histograms)
    counts = list_values(vector)
    return [
        Sample(key, bucket_quantile(q, [(bound, counts[place]) for bound, place in buckets]))
        for key, buckets in histograms
    ]


def _find_histograms(vector: list[Labels]) -> Histograms:
    """Return the histograms; what has no readable ``le`` belongs to none."""
    groups: dict[Labels, list[tuple[float, int]]] = {}
    for place, labels in enumerate(vector):
        bound = _parse_bound(dict(labels).get("le", ""))
        if bound is not None:
            key = tuple(pair for pair in labels if pair[0] not in ("le", "__name__"))
            groups.setdefault(key, []).append((bound, place))
    return [(key, sorted(buckets, key=itemgetter(0))) for key, buckets in groups.items()]


def _parse_bound(text: str) -> float | None:
    if "_" in text or text != text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def bucket_quantile(q: float, buckets: list[Bucket]) -> float:
    """Return a quantile by straight lines between the buckets' bounds, which are in order."""
    if q != q:
        return NAN
    if q < 0:
        return -INF
    if q > 1:
        return INF
    buckets = _cumulative(buckets)
    if buckets[-1][0] != INF or len(buckets) < 2:
        return NAN
    observations = buckets[-1][1]
    if observations == 0:
        return NAN
    rank = q * observations
    index = bisect_left(buckets, rank, hi=len(buckets) - 1, key=lambda bucket: bucket[1])
    if rank != rank:
        index = len(buckets) - 1
    if index == len(buckets) - 1:
        return buckets[-2][0]
    end, count = buckets[index]
    if index == 0:
        return end if end <= 0 else end * divide(rank, count)
    start, before = buckets[index - 1]
    return start + (end - start) * divide(rank - before, count - before)


def _cumulative(buckets: list[Bucket]) -> list[Bucket]:
    """Buckets of one bound added up, and none smaller than the one before it."""
    merged: list[Bucket] = []
    for bound, count in buckets:
        if merged and merged[-1][0] == bound:
            merged[-1] = (bound, merged[-1][1] + count)
        else:
            merged.append((bound, count))
    most = -math.inf
    out = []
    for bound, count in merged:
        most = count if count > most else most
        out.append((bound, count if count != count else most))
    return out

"""Spans of time as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.durations import human

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-2, "<invalid>"),
        (-1.5, "0s"),
        (-1, "0s"),
        (0, "0s"),
        (0.999, "0s"),
        (1, "1s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 1, "2m1s"),
        (3 * MINUTE + 20, "3m20s"),
        (10 * MINUTE - 1, "9m59s"),
        (10 * MINUTE, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 59, "3h"),
        (3 * HOUR + MINUTE, "3h1m"),
        (8 * HOUR - 1, "7h59m"),
        (8 * HOUR, "8h"),
        (47 * HOUR + 3599, "47h"),
        (2 * DAY, "2d"),
        (5 * DAY + 3 * HOUR, "5d3h"),
        (8 * DAY - 1, "7d23h"),
        (8 * DAY, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR - 1, "7y364d"),
        (8 * YEAR, "8y"),
        (100 * YEAR, "100y"),
    ],
)
def test_spans(seconds: float, expected: str) -> None:
    assert human(seconds) == expected


@given(st.floats(-1, 1e10))
def test_a_span_is_short(seconds: float) -> None:
    assert 2 <= len(human(seconds)) <= 7

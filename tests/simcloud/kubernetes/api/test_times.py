"""Times to text and back, and durations as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.times import human_duration, micro, parse, rfc3339

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "1970-01-01T00:00:00Z"), (1794703400.9, "2026-11-15T00:43:20Z"), (-0.5, "1969-12-31T23:59:59Z")],
)
def test_to_the_second(seconds: float, expected: str) -> None:
    assert rfc3339(seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "1970-01-01T00:00:00.000000Z"), (1794703400.123456, "2026-11-15T00:43:20.123456Z")],
)
def test_to_the_microsecond(seconds: float, expected: str) -> None:
    assert micro(seconds) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-15T00:43:20Z", 1794703400.0),
        ("2026-11-15T01:43:20+01:00", 1794703400.0),
        ("2026-11-14T23:13:20-01:30", 1794703400.0),
        ("2026-11-15T00:43:20.5Z", 1794703400.5),
    ],
)
def test_parse(text: str, expected: float) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "now", "2026-11-15", "2026-11-15 00:43:20Z", "2026-13-15T00:43:20Z", "2026-11-15T00:43:20"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


@given(st.integers(-(10**9), 10**10))
def test_whole_seconds_survive(seconds: int) -> None:
    assert parse(rfc3339(seconds)) == seconds


@given(st.integers(0, 4 * 10**15))
def test_microseconds_survive(microseconds: int) -> None:
    assert round(parse(micro(microseconds / 1_000_000)) * 1_000_000) == microseconds


@given(st.text())
def test_any_text_is_a_time_or_none(text: str) -> None:
    try:
        parse(text)
    except ValueError:
        pass


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
    assert human_duration(seconds) == expected


@given(st.floats(-1, 1e10))
def test_a_span_is_short(seconds: float) -> None:
    assert 2 <= len(human_duration(seconds)) <= 7

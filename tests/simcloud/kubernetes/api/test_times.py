"""Times to text and back."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.times import micro, parse, rfc3339


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

"""Lengths of time as Go reads and writes them; the refusals are those of genuine kubectl."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.golang.durations import format_duration, parse_duration_ns, parse_duration_s


@pytest.mark.parametrize(
    ("text", "expected_ns"),
    [
        ("0", 0), ("+0", 0), ("5m", 300_000_000_000), ("-1.5h", -5_400_000_000_000), ("1.s", 1_000_000_000),
        (".5ms", 500_000), ("1m30s", 90_000_000_000), ("7us", 7_000), ("7µs", 7_000), ("7μs", 7_000),
        ("1.9ns", 1), ("0.1s", 100_000_000), (f"1.{'3' * 90}s", 1_333_333_333),
    ],
)  # fmt: skip
def test_reading(text: str, expected_ns: int) -> None:
    assert parse_duration_ns(text) == expected_ns


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("", 'invalid duration ""'),
        ("-", 'invalid duration "-"'),
        (".", 'invalid duration "."'),
        (".s", 'invalid duration ".s"'),
        ("soon", 'invalid duration "soon"'),
        ("٣s", r'invalid duration "\xd9\xa3s"'),
        ("99999999h", 'invalid duration "99999999h"'),
        ("5", 'missing unit in duration "5"'),
        ("1h5", 'missing unit in duration "1h5"'),
        ("1.5.5s", 'missing unit in duration "1.5.5s"'),
        ("1min", 'unknown unit "min" in duration "1min"'),
        ("1sx", 'unknown unit "sx" in duration "1sx"'),
        ("1d", 'unknown unit "d" in duration "1d"'),
        ("1 s", 'unknown unit " s" in duration "1 s"'),
        ("1µ", r'unknown unit "\xc2\xb5" in duration "1\xc2\xb5"'),
        ('1"s', r'unknown unit "\"s" in duration "1\"s"'),
    ],
)
def test_refusing(text: str, refusal: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse_duration_ns(text)
    assert str(refused.value) == f"time: {refusal}"


def test_a_text_without_end_is_refused_too() -> None:
    with pytest.raises(ValueError):
        parse_duration_ns("9" * 10**6 + "h")


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_what_is_written_is_read_again(length_ns: int) -> None:
    assert parse_duration_ns(format_duration(length_ns / 10**9)) == pytest.approx(length_ns, abs=1)


@given(st.integers(0, 10**6), st.integers(0, 59), st.integers(0, 59))
def test_durations_add_up(hours: int, minutes: int, seconds: int) -> None:
    assert parse_duration_s(f"{hours}h{minutes}m{seconds}s") == hours * 3600 + minutes * 60 + seconds


@given(st.text(max_size=10))
def test_a_text_is_a_duration_or_is_refused_in_words(text: str) -> None:
    try:
        assert isinstance(parse_duration_s(text), float)
    except ValueError as error:
        assert str(error).startswith("time: ")

"""Statistics against values known from the literature or computed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from aiopslab.benchmark.statistics import (
    adjust_by_holm,
    compare_paired,
    compute_balanced_accuracy,
    compute_wilson_interval,
    estimate_pass_at_k,
    estimate_pass_hat_k,
)


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # the example of Newcombe (1998), table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_are_those_of_newcombe(successes: int, total: int, low: float, high: float) -> None:
    interval = compute_wilson_interval(successes, total)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_without_trials_nothing_is_known() -> None:
    interval = compute_wilson_interval(0, 0)
    assert (interval.low, interval.high) == (0.0, 1.0)


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_a_wilson_interval_contains_the_share_and_mirrors(pair: tuple[int, int]) -> None:
    successes, total = pair
    interval, mirrored = (compute_wilson_interval(count, total) for count in (successes, total - successes))
    assert 0 <= interval.low <= successes / total + 1e-12
    assert successes / total - 1e-12 <= interval.high <= 1
    assert interval.low == pytest.approx(1 - mirrored.high)


def test_balanced_accuracy_is_a_half_for_a_constant_answer() -> None:
    assert compute_balanced_accuracy(90, 90, 0, 10) == 0.5
    assert compute_balanced_accuracy(3, 4, 1, 2) == 0.625
    assert compute_balanced_accuracy(3, 4, 0, 0) is None


def test_pass_at_k_and_pass_hat_k_by_counting() -> None:
    # Of 5 attempts 2 succeeded. Of the 10 pairs, 3 have no success and 1 has two.
    assert estimate_pass_at_k(5, 2, 2) == pytest.approx(0.7)
    assert estimate_pass_hat_k(5, 2, 2) == pytest.approx(0.1)
    assert estimate_pass_at_k(5, 2, 1) == estimate_pass_hat_k(5, 2, 1) == pytest.approx(0.4)
    assert estimate_pass_at_k(5, 2, 4) == 1.0
    with pytest.raises(ValueError, match="k=6"):
        estimate_pass_at_k(5, 2, 6)


def test_holm_adjusts_in_steps_and_keeps_the_order() -> None:
    assert adjust_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjust_by_holm([0.9, 0.6]) == [1.0, 1.0]
    assert adjust_by_holm([]) == []


def test_a_comparison_is_the_same_every_time() -> None:
    differences = {"a": [1.0, 0.0, 1.0], "b": [0.0, 0.0], "c": [1.0, -1.0, 1.0, 1.0]}
    assert compare_paired(differences) == compare_paired(differences)
    assert compare_paired(differences).value == pytest.approx(4 / 9)
    assert compare_paired(differences).families == 3


def test_equal_agents_do_not_differ_and_clearly_better_ones_do() -> None:
    equal = compare_paired({f"f{n}": [0.0, 1.0, -1.0] for n in range(20)})
    assert equal.value == 0.0
    assert equal.interval.low < 0 < equal.interval.high
    assert equal.p_value == 1.0
    better = compare_paired({f"f{n}": [1.0, 1.0, 0.0] for n in range(20)})
    assert better.interval.low > 0.4
    assert better.p_value < 0.001


def test_seeds_of_one_family_make_no_more_certain_than_families_allow() -> None:
    """Four families, two of which differ: a hundred seeds each do not turn that into a certainty."""
    few = compare_paired({"a": [1.0], "b": [1.0], "c": [0.0], "d": [0.0]})
    many = compare_paired(
        {name: [value] * 100 for name, value in zip("abcd", (1.0, 1.0, 0.0, 0.0), strict=True)}
    )
    assert (many.interval.low, many.interval.high) == (few.interval.low, few.interval.high) == (0.0, 1.0)


def test_a_comparison_needs_something_to_compare() -> None:
    with pytest.raises(ValueError, match="no problem"):
        compare_paired({"a": []})

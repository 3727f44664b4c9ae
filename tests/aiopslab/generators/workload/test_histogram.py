"""The histogram against what is known exactly: all values, and HdrHistogram's layout."""

from __future__ import annotations

from hypothesis import given, strategies as st

from aiopslab.generators.workload.histogram import Histogram


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=200), st.sampled_from([50.0, 90.0, 99.0, 100.0]))
def test_percentiles_are_right_to_a_thousandth(values: list[int], percentile: float) -> None:
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    exact = sorted(values)[max(1, int(percentile / 100 * len(values) + 0.5)) - 1]
    assert exact <= histogram.at(percentile) <= exact * 1.001
    assert abs(histogram.mean - sum(values) / len(values)) <= max(values) * 0.001


def test_the_spectrum_ends_at_the_greatest_value() -> None:
    histogram = Histogram()
    for value in range(1, 101):
        histogram.record(value * 1000)
    rows = list(histogram.spectrum())
    assert rows[0] == (1000, 0.0, 1, 1.0)
    assert rows[-1][1:3] == (1.0, 100)
    counts = [row[2] for row in rows]
    assert counts == sorted(counts)
    assert [round(row[1], 2) for row in rows[:7]] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55]


def test_it_prints_as_hdrhistogram_does() -> None:
    histogram = Histogram()
    for value in (1000, 2000, 3000):
        histogram.record(value)
    assert histogram.format() == (
        "       Value   Percentile   TotalCount 1/(1-Percentile)\n"
        "\n"
        "       1.000     0.000000            1         1.00\n"
        "       1.000     0.100000            1         1.11\n"
        "       1.000     0.200000            1         1.25\n"
        "       1.000     0.300000            1         1.43\n"
        "       2.000     0.400000            2         1.67\n"
        "       2.000     0.500000            2         2.00\n"
        "       2.000     0.550000            2         2.22\n"
        "       2.000     0.600000            2         2.50\n"
        "       2.000     0.650000            2         2.86\n"
        "       3.001     0.700000            3         3.33\n"
        "       3.001     1.000000            3          inf\n"
        "#[Mean    =        2.000, StdDeviation   =        0.817]\n"
        "#[Max     =        3.001, Total count    =            3]\n"
        "#[Buckets =           27, SubBuckets     =         2048]\n"
    )

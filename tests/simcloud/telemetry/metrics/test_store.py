from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from simcloud.telemetry.metrics import STALE, Matcher, MetricStore, OutOfOrder, Retention, is_stale
from simcloud.telemetry.metrics.store import TooManySeries

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def names(store: MetricStore, *matchers: Matcher) -> list[str]:
    return [
        series.name + dict(series.labels).get("pod", "")
        for series in sorted(store.select(matchers), key=lambda s: s.id)
    ]


def pods() -> MetricStore:
    store = MetricStore()
    for pod in ("web-1", "web-2", "db-1", ""):
        store.append(store.series("memory", (("pod", pod), ("zone", "a"))), 1000, 1.0)
    store.append(store.series("restarts", (("pod", "web-1"),)), 1000, 1.0)
    return store


def test_a_series_is_the_same_however_often_it_is_asked_for() -> None:
    store = MetricStore()
    first = store.series("up", (("job", "api"),))
    assert store.series("up", (("job", "api"), ("empty", ""))) is first
    assert len(store) == 1


def test_samples_come_back_as_they_went_in() -> None:
    store = MetricStore()
    series = store.series("up")
    for t_ms, value in ((5, 1.5), (7, math.inf), (HOUR_MS, -0.0)):
        store.append(series, t_ms, value)
    assert series.samples(0, DAY_MS) == [(5, 1.5), (7, math.inf), (HOUR_MS, -0.0)]
    assert series.samples(6, 7) == [(7, math.inf)]


def test_a_sample_must_be_newer_than_the_last() -> None:
    store = MetricStore()
    series = store.series("up")
    store.append(series, 10, 1.0)
    for t_ms in (10, 9):
        with pytest.raises(OutOfOrder):
            store.append(series, t_ms, 2.0)


def test_a_value_is_known_until_it_is_too_old() -> None:
    series = MetricStore().series("up")
    series.append(1000, 3.0)
    assert series.latest(999, 500) is None
    assert series.latest(1000, 500) == (1000, 3.0)
    assert series.latest(1500, 500) == (1000, 3.0)
    assert series.latest(1501, 500) is None


def test_a_series_that_ended_has_no_value_at_once() -> None:
    store = MetricStore()
    series = store.series("up")
    store.append(series, 1000, 3.0)
    store.end(series, 2000)
    store.end(series, 3000)
    assert is_stale(series.values[-1])
    assert len(series) == 2
    assert series.latest(2000, 5000) is None
    assert series.samples(0, 9000) == [(1000, 3.0)]


def test_no_other_nan_is_a_marker() -> None:
    assert is_stale(STALE)
    assert not is_stale(math.nan)
    assert not is_stale(STALE * 1.0)  # arithmetic makes it an ordinary one


@pytest.mark.parametrize(
    ("matcher", "found"),
    [
        (Matcher("pod", "=", "web-1"), ["memoryweb-1", "restartsweb-1"]),
        (Matcher("pod", "=", ""), ["memory"]),
        (Matcher("pod", "!=", "web-1"), ["memoryweb-2", "memorydb-1", "memory"]),
        (Matcher("pod", "=~", "web-.*"), ["memoryweb-1", "memoryweb-2", "restartsweb-1"]),
        (Matcher("pod", "=~", "db-1|web-2"), ["memoryweb-2", "memorydb-1"]),
        (Matcher("pod", "=~", "eb-1"), []),
        (Matcher("pod", "=~", "|db-1"), ["memorydb-1", "memory"]),
        (Matcher("pod", "!~", "web-.*"), ["memorydb-1", "memory"]),
        (Matcher("pod", "!~", ".+"), ["memory"]),
        (Matcher("nothing", "=", "x"), []),
    ],
    ids=str,
)
def test_selection(matcher: Matcher, found: list[str]) -> None:
    assert names(pods(), matcher) == found


def test_all_conditions_must_hold() -> None:
    store = pods()
    assert names(store, Matcher("zone", "=", "a"), Matcher("pod", "=~", ".*-1")) == [
        "memoryweb-1",
        "memorydb-1",
    ]


def test_a_selection_that_was_asked_before_sees_new_series() -> None:
    store = pods()
    matcher = Matcher("pod", "=~", "web-.*")
    before = store.select([matcher])
    store.series("memory", (("pod", "web-3"),))
    assert len(store.select([matcher])) == len(before) + 1
    labels = [series.labels for series in store.select([matcher])]
    assert labels == sorted(labels)


def test_label_names_and_values() -> None:
    store = pods()
    assert store.label_names() == ["__name__", "pod", "zone"]
    assert store.label_values("pod") == ["db-1", "web-1", "web-2"]
    assert store.label_values("pod", [[Matcher("__name__", "=", "restarts")]]) == ["web-1"]
    assert store.label_values("pod", span=(0, 999)) == []


def test_the_oldest_samples_go_when_there_are_too_many() -> None:
    store = MetricStore(Retention(samples=100))
    series = store.series("up")
    for step in range(1000):
        store.append(series, step, float(step))
        assert len(series) <= 125
    assert series.samples(0, 1000)[-100:] == [(step, float(step)) for step in range(900, 1000)]


def test_a_sweep_drops_what_is_too_old_and_forgets_empty_series() -> None:
    store = MetricStore(Retention(age_ms=HOUR_MS))
    old, young = store.series("old"), store.series("young")
    store.append(old, 0, 1.0)
    store.append(young, 0, 1.0)
    store.append(young, HOUR_MS, 1.0)
    store.sweep(HOUR_MS + 1)
    assert names(store) == ["young"]
    assert store.label_values("__name__") == ["young"]
    store.append(old, 2 * HOUR_MS, 2.0)
    assert store.select([Matcher("__name__", "=", "old")]) == (old,)
    assert old.samples(0, DAY_MS) == [(2 * HOUR_MS, 2.0)]


def test_a_series_may_live_longer_than_its_column_is_wide() -> None:
    store = MetricStore()
    series = store.series("up")
    days = [0, 20, 40, 60, 61, 200]
    for day in days:
        store.append(series, day * DAY_MS, float(day))
    assert series.samples(0, 300 * DAY_MS) == [(200 * DAY_MS, 200.0)]
    for day in days[:5]:
        store.append(store.series("down"), day * DAY_MS, float(day))
    kept = [value for _, value in store.series("down").samples(0, 300 * DAY_MS)]
    assert kept == [20.0, 40.0, 60.0, 61.0]


def test_there_is_a_limit_to_series() -> None:
    store = MetricStore(Retention(series=2))
    store.series("a")
    store.series("b")
    with pytest.raises(TooManySeries):
        store.series("c")


def test_a_sample_costs_little_more_than_its_columns() -> None:
    store = MetricStore()
    series = store.series("up")
    for step in range(10_000):
        store.append(series, step * 15_000, float(step))
    assert store.bytes / store.samples < 14


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.floats(allow_nan=False)), max_size=50),
    st.integers(0, 10**10),
)
def test_what_is_found_is_what_lies_in_the_span(steps: list[tuple[int, float]], start_ms: int) -> None:
    series = MetricStore().series("any")
    kept, t_ms = [], 0
    for step_ms, value in steps:
        t_ms += step_ms
        series.append(t_ms, value)
        kept.append((t_ms, value))
    kept = [point for point in kept if point[0] > t_ms - 2**32]
    assert series.samples(start_ms, start_ms + 10**9) == [
        p for p in kept if start_ms <= p[0] <= start_ms + 10**9
    ]


@given(
    st.lists(
        st.tuples(st.sampled_from(["group", "append", "again", "end", "sweep"]), st.sets(st.integers(0, 4)))
    )
)
def test_groups_store_what_single_samples_would(steps: list[tuple[str, set[int]]]) -> None:
    """Whichever series are grouped, grouped otherwise, or get a sample or an end of their own in between."""
    grouped, single = MetricStore(Retention(age_ms=5_000)), MetricStore(Retention(age_ms=5_000))
    group = grouped.group([])
    for index, (step, numbers) in enumerate(steps):
        t_ms, names = (index + 1) * 1000, [f"m{number}" for number in sorted(numbers)]
        values = [float(index * 10 + place) for place in range(5)]
        if step == "sweep":
            grouped.sweep(t_ms)
            single.sweep(t_ms)
        elif step == "group" or (step == "again" and group.can_append(t_ms)):
            if step == "group":
                group = grouped.group([grouped.series(name) for name in names])
            group.append(t_ms, values[: len(group.series)])
            for series, value in zip(group.series, values, strict=False):
                single.append(single.series(series.name), t_ms, value)
        else:
            for store in (grouped, single):
                for name, value in zip(names, values, strict=False):
                    if step == "end":
                        store.end(store.series(name), t_ms)
                    else:
                        store.append(store.series(name), t_ms, value)
        for number in range(5):
            found, expected = grouped.series(f"m{number}"), single.series(f"m{number}")
            assert found.samples(0, DAY_MS) == expected.samples(0, DAY_MS)
            assert found.latest(t_ms, DAY_MS) == expected.latest(t_ms, DAY_MS)

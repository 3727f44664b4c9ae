"""What holds of every query, whether or not a genuine Prometheus is here to compare with."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, strategies as st

from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.prometheus_api import ApiRefusal, PrometheusApi
from simcloud.telemetry.promql import Engine, Limits, ParseError, QueryError, parse
from simcloud.telemetry.promql.numbers import format_duration, in_json, parse_duration_ms, plain
from tests.simcloud.telemetry.promql.samples import END_MS, START_MS, store_with_samples

WORDS = st.sampled_from(
    [
        *(
            "up",
            "sum",
            "rate",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "5m",
            ":",
            "1",
            "1.5e3",
            "+",
            "-",
            "*",
            "^",
            "and",
            "by",
        ),
        *(
            "on",
            "offset",
            "@",
            "start",
            "bool",
            "==",
            "=~",
            "!=",
            '"a"',
            ",",
            "group_left",
            "topk",
            " ",
            "\n",
            "#",
        ),
        *(
            "\\",
            "$",
            "é",
            "'",
            "atan2",
            "ignoring",
            "inf",
            "0x",
            "time",
            "quantile_over_time",
            "label_replace",
        ),
    ]
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(store_with_samples())


def values(engine: Engine, query: str, t_ms: int = END_MS) -> list[float]:
    return [value for _, value in engine.instant(query, t_ms).vector]


def test_a_rate_knows_resets(engine: Engine) -> None:
    store = MetricStore()
    series = store.series("calls_total")
    for step, value in enumerate((0.0, 10.0, 20.0, 5.0, 15.0)):  # restarted after 20
        store.append(series, step * 15_000, value)
    assert values(Engine(store), "increase(calls_total[1m])", 60_000) == [35.0]
    assert values(Engine(store), "rate(calls_total[1m])", 60_000) == [35.0 / 60]


def test_a_join_takes_labels_from_the_one_side(engine: Engine) -> None:
    result = engine.instant("up * on(instance) group_left(version) build_info", END_MS)
    assert {dict(labels)["version"] for labels, _ in result.vector} == {"v0", "v1"}


def test_a_range_query_is_an_instant_query_at_every_step(engine: Engine) -> None:
    query = "sum by (code) (rate(http_requests_total[5m]))"
    over = engine.range(query, START_MS, END_MS, 600_000)
    for labels, points in over.matrix:
        for t_ms, value in points:
            assert dict(engine.instant(query, t_ms).vector)[labels] == value


def test_series_that_differ_only_by_name_do_not_become_one(engine: Engine) -> None:
    with pytest.raises(QueryError, match="vector cannot contain metrics with the same labelset"):
        engine.instant('rate({__name__=~"twin_.*"}[5m])', END_MS)


def test_a_query_that_reads_too_much_is_refused() -> None:
    small = Engine(store_with_samples(), Limits(samples=100))
    assert values(small, "count(up)") == [4.0]
    with pytest.raises(QueryError, match="query processing would load too many samples into memory"):
        small.instant("rate(http_requests_total[1h])", END_MS)


@pytest.mark.parametrize(
    "query",
    [
        "max_over_time(vector(1)[300d:1s])",
        "count_over_time(nothing[300d:1s])",
        "max_over_time(max_over_time(max_over_time(temperature[1h:1s])[1h:1s])[1h:1s])",
        "max_over_time(temperature[300d:1s] offset 300d)",
    ],
)
def test_looking_where_nothing_is_is_counted_too(query: str) -> None:
    small = Engine(store_with_samples(), Limits(samples=5_000))
    with pytest.raises(QueryError, match="query processing would load too many samples into memory"):
        small.instant(query, 10_000_000)


def test_nesting_has_an_end() -> None:
    for text in (
        "(" * 5_000 + "1",
        "-" * 5_000 + "up",
        "abs(" * 5_000,
        "1" + " + 1" * 5_000,
        "up" + "[5m:1m]" * 5_000,
    ):
        with pytest.raises(ParseError, match="expression is nested too deeply"):
            parse(text)
    deep = "max_over_time(" * 45 + "up" + "[1m:1m])" * 45
    assert values(Engine(MetricStore()), deep) == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "1:1: parse error: no expression found in input"),
        (
            "rate(up)",
            '1:6: parse error: expected type range vector in call to function "rate", got instant vector',
        ),
        (
            "up[5m] + 1",
            "1:1: parse error: binary expression must contain only scalar and instant vector types",
        ),
        ("up\n  and 1", '1:1: parse error: set operator "and" not allowed in binary scalar expression'),
        ("sum(up) \n by (job) by", "2:11: parse error: unexpected <by>"),
        ('up{job=~"("}', "1:4: parse error: error parsing regexp: missing closing ): `^(?:()$`"),
    ],
)
def test_a_mistake_is_told_with_its_place(query: str, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(query)
    assert str(caught.value) == words


@given(st.lists(WORDS, max_size=14).map("".join))
def test_any_text_is_a_query_or_a_mistake(text: str) -> None:
    try:
        node = parse(text)
    except ParseError as mistake:
        assert "parse error" in str(mistake)
        return
    try:
        Engine(MetricStore()).instant(node, END_MS)
    except QueryError:
        pass


PARAMETERS = st.dictionaries(
    st.sampled_from(
        ["query", "time", "start", "end", "step", "timeout", "match[]", "limit", "metric", "type", "state"]
    ),
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | WORDS | st.floats().map(str),
        max_size=2,
    ),
    max_size=6,
)
PATHS = st.sampled_from(
    ["query", "query_range", "series", "labels", "label/a/values", "metadata", "rules", "targets"]
)


@given(PATHS, PARAMETERS)
@example("query", {"query": ['up{a=~"\\ud800"}']})
@example("query", {"query": ["0x" + "f" * 400]})
@example("query", {"query": ["1"], "time": ["1e308"]})
@example("query_range", {"query": ["1"], "start": ["0"], "end": ["1"], "step": ["1e308"]})
def test_any_request_is_answered_or_refused(path: str, parameters: dict[str, list[str]]) -> None:
    store = MetricStore()
    store.append(store.series("up"), END_MS, 1.0)
    try:
        answer = PrometheusApi(store, lambda: END_MS).answer(path, parameters)
    except ApiRefusal as refusal:
        answer = refusal.document
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_reads_back(value: float) -> None:
    assert float(plain(value)) == value
    assert float(in_json(value)) == value


@given(st.integers(1, 10**12))
def test_a_written_duration_reads_back(duration_ms: int) -> None:
    assert parse_duration_ms(format_duration(duration_ms)) == duration_ms

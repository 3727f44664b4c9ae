from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.machine.emit import Labels, LogLine
from simcloud.telemetry.logs import LogStore
from simcloud.telemetry.logs.logql import (
    Effort,
    Evaluation,
    LogSelector,
    PipelineFailed,
    TooLong,
    TooMany,
    find_lines,
    parse,
)
from simcloud.telemetry.logs.store import SECOND_NS

WEB: Labels = (("app", "web"), ("pod", "web-1"))


def store_of(*texts: str, origin: Labels = WEB) -> LogStore:
    """One line a second, from second 1 on."""
    store = LogStore()
    for second, text in enumerate(texts, 1):
        store.add(LogLine(float(second), "s", "stdout", text, origin))
    return store


def lines(store: LogStore, query: str, newest_first: bool = False) -> list[str]:
    node = parse(query)
    assert isinstance(node, LogSelector)
    found = find_lines(store, node, 0, 10**12 * SECOND_NS, Effort(), newest_first=newest_first)
    return [line.text for line in found]


def labels(text: str, stages: str) -> dict[str, str]:
    """The labels that stages make of a line, without the stream's."""
    node = parse('{app="web"} ' + stages)
    assert isinstance(node, LogSelector)
    found = list(find_lines(store_of(text), node, 0, 10 * SECOND_NS, Effort(), newest_first=False))
    return {
        name: value for name, value in found[0].labels if (name, value) not in (*WEB, ("stream", "stdout"))
    }


def value(store: LogStore, query: str, t_s: float = 100) -> dict[Labels, float]:
    node = parse(query)
    assert not isinstance(node, LogSelector)
    t_ns = int(t_s * SECOND_NS)
    result = Evaluation(store, t_ns, t_ns, Effort()).instant(node)
    return {(): result.scalar} if result.type == "scalar" else dict(result.vector)


TEXTS = ("GET /a 200", "GET /b 500", "POST /a 500 error", "done")


def test_lines_are_filtered_by_their_text() -> None:
    store = store_of(*TEXTS)
    assert lines(store, '{app="web"} |= "GET" != "500"') == ["GET /a 200"]
    assert lines(store, '{app="web"} |~ "^(GET|POST) /a"') == ["GET /a 200", "POST /a 500 error"]
    assert lines(store, '{app="web"} !~ "\\\\d"') == ["done"]
    assert lines(store, '{app="web"} |= "error" or "done"', newest_first=True) == [
        "done",
        "POST /a 500 error",
    ]
    assert lines(store, '{app="web"} != "error" or "GET"') == ["done"]


WORDS = st.text("ab .", max_size=4)
FILTERS = st.lists(st.tuples(st.sampled_from(["|=", "!=", "|~", "!~"]), WORDS), max_size=4)


@settings(max_examples=150)
@given(st.lists(st.text("ab .c", max_size=8), max_size=12), FILTERS)
def test_filters_keep_what_a_naive_reader_keeps(texts: list[str], filters: list[tuple[str, str]]) -> None:
    import re

    query = '{app="web"} ' + " ".join(f"{sign} `{word}`" for sign, word in filters)
    expected = []
    for text in texts:
        kept = True
        for sign, word in filters:
            has = word in text if "=" in sign else re.search(word, text) is not None
            kept = kept and has is (sign[0] == "|")
        if kept:
            expected.append(text)
    store = store_of(*texts)
    assert lines(store, query) == expected
    assert lines(store, query, newest_first=True) == expected[::-1]


def test_streams_are_merged_in_the_order_of_time() -> None:
    store = LogStore()
    for second in range(6):
        store.add(
            LogLine(float(second), "s", "stdout", str(second), (("app", "web"), ("pod", str(second % 2))))
        )
    assert lines(store, '{app="web"}') == list("012345")
    assert lines(store, '{pod=~"1|9"}', newest_first=True) == list("531")


def test_json_becomes_labels() -> None:
    text = '{"level":"info","n":1.50,"ok":true,"a":{"b-c":"d"},"list":[1],"null":null,"app":"x","3d":"y"}'
    expected = {"level": "info", "n": "1.50", "ok": "true", "a_b_c": "d", "app_extracted": "x", "_3d": "y"}
    assert labels(text, "| json") == expected
    assert labels(text, '| json first="list[0]", d="a[\\"b-c\\"]", level') == {
        "first": "1",
        "d": "d",
        "level": "info",
    }
    assert labels(text, '| json whole="a"') == {"whole": '{"b-c":"d"}'}


def test_what_is_no_json_goes_on_with_an_error() -> None:
    assert labels("hello", "| json") == {
        "__error__": "JSONParserErr",
        "__error_details__": "Value looks like object, but can't find closing '}' symbol",
    }
    assert lines(store_of("hello", '{"a":"b"}', "[" * 50_000), '{app="web"} | json | __error__=""') == [
        '{"a":"b"}'
    ]


def test_logfmt_becomes_labels() -> None:
    text = 'ts=1 level=warn msg="a \\"b\\" c" empty= flag path=/x?a=b'
    expected = {"ts": "1", "level": "warn", "msg": 'a "b" c', "path": "/x?a=b"}
    assert labels(text, "| logfmt") == expected
    assert labels(text, '| logfmt severity="level", path') == {"severity": "warn", "path": "/x?a=b"}


KEYS = st.text("abcxyz_", min_size=1, max_size=5)
VALUES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffd"), min_size=1, max_size=8
)


@settings(max_examples=100)
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_pairs_of_any_text_are_read_from_both_forms(pairs: dict[str, str]) -> None:
    assert labels(json.dumps(pairs), "| json") == pairs
    logfmt = " ".join(f"{key}={json.dumps(text, ensure_ascii=False)}" for key, text in pairs.items())
    assert labels(logfmt, "| logfmt") == pairs


def test_what_grafana_counts_for_its_histogram() -> None:
    store = store_of("level=info a", "level=error b", "level=info c")
    query = (
        'sum by (level, detected_level) (count_over_time({app="web"} |= `` | logfmt | drop __error__[1m]))'
    )
    assert value(store, query, 10) == {(("level", "error"),): 1, (("level", "info"),): 2}


def test_a_query_that_would_look_at_too_much_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcloud.telemetry.logs.logql.engine.MOST_WORK", 1000)
    with pytest.raises(TooLong, match="Request timed out, decrease the duration"):
        lines(store_of(*["x" * 50] * 20), '{app="web"} |= "y"')


def test_patterns_and_expressions_become_labels() -> None:
    text = '10.0.0.1 - - "GET /index" 200'
    assert labels(text, '| pattern `<ip> - <_> "<method> <path>" <status>`') == {
        "ip": "10.0.0.1",
        "method": "GET",
        "path": "/index",
        "status": "200",
    }
    assert labels(text, '| regexp "(?P<ip>[0-9.]+).* (?P<status>[0-9]+)$"') == {
        "ip": "10.0.0.1",
        "status": "200",
    }
    assert labels("other", "| pattern `x<a>`") == {}


def test_labels_are_compared_as_numbers_durations_and_sizes() -> None:
    store = store_of(
        '{"status":200,"took":"90ms","size":"1KB"}',
        '{"status":503,"took":"1.5s","size":"3KiB"}',
        '{"status":404,"took":"2m","size":"7"}',
        '{"took":"1h"}',
    )

    def chosen(stages: str) -> list[int]:
        kept = lines(store, '{app="web"} | json | ' + stages)
        return [number for number, text in enumerate(lines(store, '{app="web"}'), 1) if text in kept]

    assert chosen("status >= 404") == [2, 3]
    assert chosen("status = 200 or took > 1m") == [1, 3, 4]
    assert chosen("took > 100ms and took < 5m") == [2, 3]
    assert chosen("size > 1024") == [1, 2]  # "1KB" is no number: told in __error__, and passed
    assert chosen("size >= 3KiB") == [2]
    assert chosen('status =~ "[45].*", took != 2m') == [2]
    assert chosen('status="200" or (status>400 and status<500)') == [1, 3]


def test_a_label_that_is_no_number_is_told_and_passed() -> None:
    assert labels('{"n":"x"}', "| json | n > 3") == {
        "n": "x",
        "__error__": "LabelFilterErr",
        "__error_details__": 'strconv.ParseFloat: parsing "x": invalid syntax',
    }


def test_lines_and_labels_are_rewritten() -> None:
    store = store_of('{"a":"x","b":"y"}')
    assert lines(store, '{app="web"} | json | line_format "{{.a}}-{{ .b | ToUpper }} {{.none}}"') == ["x-Y "]
    assert labels('{"a":"x","b":"y"}', '| json | label_format c=a, d="<{{.b}}>" | drop b') == {
        "c": "x",
        "d": "<y>",
    }
    assert lines(store_of("\x1b[31mred\x1b[0m"), '{app="web"} | decolorize') == ["red"]
    node = parse('{app="web"} | keep pod')
    assert isinstance(node, LogSelector)
    found = next(find_lines(store, node, 0, 10 * SECOND_NS, Effort(), newest_first=False))
    assert found.labels == (("pod", "web-1"),)


def test_lines_are_counted_in_the_range_before() -> None:
    store = store_of("a", "bb", "a", "dddd")
    stream = (*WEB, ("stream", "stdout"))
    assert value(store, 'count_over_time({app="web"}[2s])', 4) == {stream: 2}
    assert value(store, 'count_over_time({app="web"}[2s] offset 2s)', 4) == {stream: 2}
    assert value(store, 'rate({app="web"} |= "a" [4s])', 4) == {stream: 0.5}
    assert value(store, 'bytes_over_time({app="web"}[1m])', 4) == {stream: 8}
    assert value(store, 'bytes_rate({app="web"}[4s])', 4) == {stream: 2}
    assert value(store, 'count_over_time({app="web"}[2s])', 50) == {}
    assert value(store, 'absent_over_time({app="web"}[2s])', 50) == {(("app", "web"),): 1}


@settings(max_examples=80)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=25), st.integers(1, 20), st.integers(1, 9))
def test_every_step_counts_what_a_naive_reader_counts(seconds: list[int], range_s: int, step_s: int) -> None:
    store = LogStore()
    for second in sorted(seconds):
        store.add(LogLine(float(second), "s", "stdout", "x" * (second % 3), WEB))
    node = parse(f'sum(count_over_time({{app="web"}}[{range_s}s]))')
    assert not isinstance(node, LogSelector)
    result = Evaluation(store, 0, 40 * SECOND_NS, Effort()).range(node, step_s * SECOND_NS)
    expected = []
    for t in range(0, 41, step_s):
        count = sum(1 for second in seconds if t - range_s < second <= t)
        if count:
            expected.append((t * 1000, float(count)))
    assert [list(series.points) for series in result.matrix] == ([expected] if expected else [])


def test_series_are_aggregated_and_combined() -> None:
    store = LogStore()
    for second in range(1, 11):
        origin = (("app", "web"), ("pod", f"web-{second % 3}"))
        store.add(LogLine(float(second), "s", "stdout", f'{{"status":{500 if second > 6 else 200}}}', origin))
    query = 'sum by (pod) (count_over_time({app="web"}[1m]))'
    assert value(store, query) == {}
    assert value(store, query, 10) == {(("pod", "web-0"),): 3, (("pod", "web-1"),): 4, (("pod", "web-2"),): 3}
    assert value(store, 'topk(1, count_over_time({app="web"}[1m]))', 10) == {
        (("app", "web"), ("pod", "web-1"), ("stream", "stdout")): 4
    }
    share = 'sum(rate({app="web"} | json | status >= 500 [1m])) / sum(rate({app="web"}[1m])) * 100'
    assert value(store, share, 10) == {(): 40}
    assert value(store, 'avg(count_over_time({app="web"}[1m])) > 3', 10) == {(): pytest.approx(10 / 3)}
    assert value(store, 'count(count_over_time({app="web"}[1m])) > bool 3', 10) == {(): 0}
    assert value(store, "vector(1)+vector(1)") == {(): 2}
    assert value(
        store, 'sum by (x) (label_replace(count_over_time({app="web"}[1m]), "x", "$1", "pod", "web-(.)"))', 10
    ) == {
        (("x", "0"),): 3,
        (("x", "1"),): 4,
        (("x", "2"),): 3,
    }


def test_numbers_in_lines_are_unwrapped() -> None:
    store = store_of("took=100ms n=4", "took=300ms n=8", "took=2s n=x")
    by_nothing = 'sum_over_time({app="web"} | logfmt took | unwrap duration(took) [1m])'
    assert value(store, f"sum({by_nothing})", 10) == {(): 2.4}
    ordered = 'quantile_over_time(0.5, {app="web"} | logfmt took | unwrap duration(took) [1m]) by (app)'
    assert value(store, ordered, 10) == {(("app", "web"),): 0.3}
    with pytest.raises(PipelineFailed, match="pipeline error: 'SampleExtractionErr' for series"):
        value(store, 'max_over_time({app="web"} | logfmt n | unwrap n [1m])', 10)
    skipped = 'max_over_time({app="web"} | logfmt n | unwrap n | __error__="" [1m]) by (app)'
    assert value(store, skipped, 10) == {(("app", "web"),): 8}


def test_too_many_series_are_refused_but_not_on_the_way_to_a_sum() -> None:
    store = store_of(*(f"n={number} odd={number % 2}" for number in range(600)))
    assert value(store, 'sum by (odd) (count_over_time({app="web"} | logfmt [1h]))', 700) == {
        (("odd", "0"),): 300,
        (("odd", "1"),): 300,
    }
    assert value(store, 'sum without (n, odd) (rate({app="web"} | logfmt [10m]))', 600) == {
        (*WEB, ("stream", "stdout")): 1
    }
    with pytest.raises(TooMany, match=r"maximum number of series \(500\) reached"):
        value(store, 'count_over_time({app="web"} | logfmt [1h])', 700)

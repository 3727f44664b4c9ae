from __future__ import annotations

from typing import Any

import pytest

from simcloud.machine.emit import LogLine
from simcloud.telemetry.logs import LogStore, LokiApi
from simcloud.telemetry.logs.store import SECOND_NS

NOW_S = 1_767_603_600  # 2026-01-05T09:00:00Z


@pytest.fixture
def api() -> LokiApi:
    store = LogStore()
    for number in range(20):
        origin = (("app", "web"), ("namespace", "shop"), ("pod", f"web-{number % 2}"))
        store.add(LogLine(NOW_S - 20 + number, "s", "stdout", f"line {number}", origin))
    return LokiApi(store, lambda: NOW_S * SECOND_NS)


def get(api: LokiApi, path: str, **parameters: object) -> Any:
    status, document = api.answer(
        f"/loki/api/v1/{path}", {name: [str(value)] for name, value in parameters.items()}
    )
    assert status == 200, document
    return document


def refused(api: LokiApi, path: str, **parameters: object) -> tuple[int, Any]:
    return api.answer(f"/loki/api/v1/{path}", {name: [str(value)] for name, value in parameters.items()})


def texts(document: Any) -> list[str]:
    values = [pair for stream in document["data"]["result"] for pair in stream["values"]]
    return [text for _, text in sorted(values)]


def test_lines_come_by_stream_the_newest_first(api: LokiApi) -> None:
    document = get(api, "query_range", query='{app="web"}', limit=3)
    assert document["data"]["resultType"] == "streams"
    assert document["data"]["result"] == [
        {
            "stream": {"app": "web", "namespace": "shop", "pod": "web-0", "stream": "stdout"},
            "values": [[str((NOW_S - 2) * SECOND_NS), "line 18"]],
        },
        {
            "stream": {"app": "web", "namespace": "shop", "pod": "web-1", "stream": "stdout"},
            "values": [[str((NOW_S - 1) * SECOND_NS), "line 19"], [str((NOW_S - 3) * SECOND_NS), "line 17"]],
        },
    ]
    assert document["data"]["stats"]["summary"]["totalEntriesReturned"] == 3


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((NOW_S - 20) * SECOND_NS, (NOW_S - 18) * SECOND_NS),
        (NOW_S - 20, f"{NOW_S - 18}.000"),
        ("2026-01-05T08:59:40Z", "2026-01-05T09:59:42+01:00"),
        ("2026-01-05T08:59:39.500000001Z", "2026-01-05T08:59:41.999999999Z"),
    ],
)
def test_times_are_written_in_several_ways_and_the_end_is_not_included(
    api: LokiApi, start: object, end: object
) -> None:
    document = get(api, "query_range", query='{app="web"}', start=start, end=end, direction="forward")
    assert texts(document) == ["line 0", "line 1"]


def test_numbers_at_every_step(api: LokiApi) -> None:
    document = get(
        api,
        "query_range",
        query='sum(count_over_time({app="web"}[10s]))',
        start=NOW_S - 10,
        end=NOW_S,
        step="5s",
    )
    assert document["data"]["resultType"] == "matrix"
    assert document["data"]["result"] == [
        {"metric": {}, "values": [[NOW_S - 10, "10"], [NOW_S - 5, "10"], [NOW_S, "9"]]}
    ]


def test_numbers_now(api: LokiApi) -> None:
    document = get(api, "query", query='sum by (pod) (rate({app="web"}[20s]))')
    assert document["data"]["resultType"] == "vector"
    assert document["data"]["result"][0] == {"metric": {"pod": "web-0"}, "value": [NOW_S, "0.45"]}
    assert get(api, "query", query="vector(1)+vector(1)")["data"]["result"] == [
        {"metric": {}, "value": [NOW_S, "2"]}
    ]


def test_labels_and_series(api: LokiApi) -> None:
    assert get(api, "labels")["data"] == ["app", "namespace", "pod", "stream"]
    assert get(api, "label/pod/values")["data"] == ["web-0", "web-1"]
    assert get(api, "label/pod/values", query='{pod=~".*1"}')["data"] == ["web-1"]
    assert get(api, "label/none/values") == {"status": "success"}
    assert get(api, "labels", start=NOW_S - 7200, end=NOW_S - 3600) == {"status": "success"}
    document = get(api, "series", **{"match[]": '{pod="web-1"}'})
    assert document["data"] == [{"app": "web", "namespace": "shop", "pod": "web-1", "stream": "stdout"}]
    assert len(get(api, "series")["data"]) == 2
    assert get(api, "index/stats", query='{app="web"}')["entries"] == 20


def test_what_grafana_asks_before_it_believes(api: LokiApi) -> None:
    assert api.answer("/ready", {}) == (200, "ready\n")
    assert get(api, "status/buildinfo")["version"]


@pytest.mark.parametrize(
    ("path", "parameters", "words"),
    [
        (
            "query_range",
            {"query": "{"},
            "parse error at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }",
        ),
        (
            "query",
            {"query": '{app="web"}'},
            "log queries are not supported as an instant query type, please change your query to a range query type",
        ),
        ("query_range", {"query": '{app="web"}', "limit": "0"}, "limit must be a positive value"),
        ("query_range", {"query": '{app="web"}', "limit": "x"}, 'strconv.Atoi: parsing "x": invalid syntax'),
        (
            "query_range",
            {"query": '{app="web"}', "limit": "6000"},
            "max entries limit per query exceeded, limit > max_entries_limit_per_query (6000 > 5000)",
        ),
        ("query_range", {"query": '{app="web"}', "direction": "up"}, "invalid direction 'up'"),
        (
            "query_range",
            {"query": '{app="web"}', "start": 20, "end": 10},
            "end timestamp must not be before or equal to start time",
        ),
        (
            "query_range",
            {"query": '{app="web"}', "step": "-1"},
            "zero or negative query resolution step widths are not accepted. Try a positive integer",
        ),
        (
            "query_range",
            {"query": 'rate({app="web"}[1m])', "step": "0.1"},
            "exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter",
        ),
        (
            "query_range",
            {"query": 'count_over_time({app="web"} | json [1m])'},
            "pipeline error: 'JSONParserErr' for series",
        ),
        ("series", {"match": '{app=""}'}, "parse error : queries require at least one regexp"),
    ],
)
def test_refusals(api: LokiApi, path: str, parameters: dict[str, object], words: str) -> None:
    status, document = refused(api, path, **parameters)
    assert status == 400
    assert document.startswith(words)


def test_other_paths_are_not_there(api: LokiApi) -> None:
    assert api.answer("/loki/api/v1/nothing", {}) == (404, "404 page not found\n")

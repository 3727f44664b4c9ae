"""Jaeger's HTTP API: what it answers and in which words it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simcloud.machine.emit import Labels, Span
from simcloud.telemetry.traces import JaegerApi, RowRuns, TraceStore

EPOCH_S = 1_700_000_000.0
NOW_US = 1_700_000_100_000_000
SERVER: Labels = (("component", "gRPC"), ("span.kind", "server"))
ROOT: Labels = (("component", "net/http"), ("http.status_code", "200"), ("span.kind", "server"))


def process(ip: str) -> Labels:
    return (("hostname", "a-pod"), ("ip", ip))


SPANS = (
    Span(0xA1, 0xB3, 0xB2, "geo", "/geo.Geo/Nearby", 10.003, 0.002, None, SERVER, process("10.244.1.3")),
    Span(
        0xA1,
        0xB2,
        0xB1,
        "search",
        "/search.Search/Nearby",
        10.002,
        0.005,
        None,
        SERVER,
        process("10.244.1.2"),
    ),
    Span(0xA1, 0xB1, 0, "frontend", "HTTP GET /hotels", 10.0, 0.01, None, ROOT, process("10.244.1.1")),
    Span(0xA2, 0xC1, 0, "frontend", "HTTP GET /user", 20.0, 0.2, "no user", (), process("10.244.1.1")),
)


@pytest.fixture
def api() -> JaegerApi:
    store = TraceStore(epoch_s=EPOCH_S)
    for span in SPANS:
        store.add(span)
    return JaegerApi(store, lambda: NOW_US)


def ask(api: JaegerApi, path: str, **parameters: str) -> Any:
    status, document = api.answer(path, {name: [value] for name, value in parameters.items()})
    assert status == 200
    assert (document["limit"], document["offset"], document["errors"]) == (0, 0, None)
    json.dumps(document)
    return document["data"]


def refusal(api: JaegerApi, path: str, **parameters: str) -> tuple[int, str]:
    status, document = api.answer(path, {name: [value] for name, value in parameters.items()})
    (error,) = document["errors"]
    assert document["data"] is None
    assert error["code"] == status
    return status, error["msg"]


def found(api: JaegerApi, **parameters: str) -> list[str]:
    return [trace["traceID"][-2:] for trace in ask(api, "/api/traces", **parameters)]


def test_services_and_operations(api: JaegerApi) -> None:
    assert ask(api, "/api/services") == ["frontend", "geo", "search"]
    assert ask(api, "/api/services/frontend/operations") == ["HTTP GET /hotels", "HTTP GET /user"]
    assert ask(api, "/api/operations", service="frontend") == [
        {"name": "HTTP GET /hotels", "spanKind": "server"},
        {"name": "HTTP GET /user", "spanKind": ""},
    ]
    assert ask(api, "/api/operations", service="frontend", spanKind="client") == []
    assert api.answer("/api/services", {})[1]["total"] == 3


def test_nothing_is_null_or_empty_as_jaeger_has_it() -> None:
    empty = JaegerApi(TraceStore(), lambda: NOW_US)
    assert ask(empty, "/api/services") is None
    assert ask(empty, "/api/services/geo/operations") is None
    assert ask(empty, "/api/operations", service="geo") == []
    assert ask(empty, "/api/traces", service="geo") == []
    assert ask(empty, "/api/dependencies") == []


def test_a_trace_is_written_as_jaeger_writes_it(api: JaegerApi) -> None:
    (trace,) = ask(api, "/api/traces/a1")
    assert list(trace) == ["traceID", "spans", "processes", "warnings"]
    assert trace["spans"][0] == {
        "traceID": "00000000000000a1",
        "spanID": "00000000000000b3",
        "flags": 1,
        "operationName": "/geo.Geo/Nearby",
        "references": [
            {"refType": "CHILD_OF", "traceID": "00000000000000a1", "spanID": "00000000000000b2"},
        ],
        "startTime": 1_700_000_010_003_000,
        "duration": 2000,
        "tags": [
            {"key": "component", "type": "string", "value": "gRPC"},
            {"key": "span.kind", "type": "string", "value": "server"},
            {"key": "internal.span.format", "type": "string", "value": "proto"},
        ],
        "logs": [],
        "processID": "p1",
        "warnings": None,
    }
    names = "traceID spanID flags operationName references startTime duration tags logs processID warnings"
    assert list(trace["spans"][0]) == names.split()
    assert trace["spans"][2]["references"] == []
    assert {"key": "http.status_code", "type": "int64", "value": 200} in trace["spans"][2]["tags"]
    assert trace["processes"]["p3"] == {
        "serviceName": "frontend",
        "tags": [
            {"key": "hostname", "type": "string", "value": "a-pod"},
            {"key": "ip", "type": "string", "value": "10.244.1.1"},
        ],
    }


def test_an_error_is_a_tag_and_a_log_entry(api: JaegerApi) -> None:
    (trace,) = ask(api, "/api/traces/00000000000000a2")
    (span,) = trace["spans"]
    assert span["tags"][0] == {"key": "error", "type": "bool", "value": True}
    assert span["logs"] == [
        {
            "timestamp": 1_700_000_020_200_000,
            "fields": [
                {"key": "event", "type": "string", "value": "error"},
                {"key": "message", "type": "string", "value": "no user"},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("key", "value", "kind", "shown"),
    [
        ("http.status_code", "503", "int64", 503),
        ("response_code", "Unavailable", "string", "Unavailable"),
        ("error", "true", "bool", True),
        ("sampler.param", "true", "bool", True),
        ("sampler.param", "1", "float64", 1),
        ("sampler.param", "0.01", "float64", 0.01),
        ("nginx.worker_pid", "9", "string", "9"),
    ],
)
def test_tags_have_the_types_that_tracers_give_them(key: str, value: str, kind: str, shown: object) -> None:
    store = TraceStore()
    store.add(Span(1, 1, 0, "a", "a", 1.0, 0.1, None, ((key, value),)))
    (trace,) = ask(JaegerApi(store, lambda: NOW_US), "/api/traces/1")
    assert trace["spans"][0]["tags"][0] == {"key": key, "type": kind, "value": shown}


def test_searches(api: JaegerApi) -> None:
    assert found(api, service="frontend") == ["a2", "a1"]
    assert found(api, service="frontend", limit="1") == ["a2"]
    assert found(api, service="frontend", operation="HTTP GET /hotels") == ["a1"]
    assert found(api, service="frontend", tags='{"error":"true"}') == ["a2"]
    assert found(api, service="frontend", tag="http.status_code:200") == ["a1"]
    assert found(api, service="geo", tag="ip:10.244.1.3") == ["a1"]
    assert found(api, service="frontend", minDuration="100ms") == ["a2"]
    assert found(api, service="frontend", maxDuration="10ms") == ["a1"]
    assert found(api, service="frontend", start="1700000015000000") == ["a2"]
    assert found(api, service="frontend", end="1700000010000000") == ["a1"]
    assert found(api, service="frontend", end="1700000009999999") == []
    assert found(api, service="geo", tag="error:true") == []


def test_what_is_older_than_two_days_is_only_found_when_asked_for(api: JaegerApi) -> None:
    late = JaegerApi(api.view.store, lambda: NOW_US + 3 * 86_400 * 1_000_000)
    assert found(late, service="frontend") == []
    assert found(late, service="frontend", start="0") == ["a2", "a1"]


def test_traces_by_their_ids(api: JaegerApi) -> None:
    status, document = api.answer("/api/traces", {"traceID": ["a2", "ff"]})
    assert status == 200
    assert [trace["traceID"] for trace in document["data"]] == ["00000000000000a2"]
    assert document["errors"] == [{"msg": "trace not found", "traceID": "00000000000000ff"}]


def test_dependencies(api: JaegerApi) -> None:
    links = [
        {"parent": "frontend", "child": "search", "callCount": 1},
        {"parent": "search", "child": "geo", "callCount": 1},
    ]
    assert ask(api, "/api/dependencies", endTs="1700000100000", lookback="3600000") == links
    assert ask(api, "/api/dependencies", endTs="1700000100000", lookback="1000") == []
    assert ask(api, "/api/dependencies", service="geo") == links[1:]


def test_a_restarted_jaeger_knows_only_what_came_since(api: JaegerApi) -> None:
    store = api.view.store
    received = RowRuns()
    again = JaegerApi(store, lambda: NOW_US, received)
    assert ask(again, "/api/services") is None
    store.add(SPANS[0])
    received.note(store.next_row - 1, store.next_row)
    assert ask(again, "/api/services") == ["geo"]
    assert len(ask(again, "/api/traces/a1")[0]["spans"]) == 1


INTEGER = 'strconv.ParseInt: parsing "{}": {}'


@pytest.mark.parametrize(
    ("path", "parameters", "status", "message"),
    [
        ("traces", {}, 400, "parameter 'service' is required"),
        ("operations", {}, 400, "parameter 'service' is required"),
        ("traces/ff", {}, 404, "trace not found"),
        ("traces/xyz", {}, 400, 'strconv.ParseUint: parsing "xyz": invalid syntax'),
        ("traces/" + "a" * 33, {}, 400, "TraceID cannot be longer than 32 hex characters: " + "a" * 33),
        ("traces/" + "g" + "0" * 16, {}, 400, 'strconv.ParseUint: parsing "g": invalid syntax'),
        (
            "traces",
            {"traceID": "x"},
            400,
            'cannot parse traceID param: strconv.ParseUint: parsing "x": invalid syntax',
        ),
        (
            "traces",
            {"service": "geo", "start": "x"},
            400,
            "unable to parse param 'start': " + INTEGER.format("x", "invalid syntax"),
        ),
        (
            "traces",
            {"service": "geo", "end": "9" * 30},
            400,
            "unable to parse param 'end': " + INTEGER.format("9" * 30, "value out of range"),
        ),
        ("traces", {"service": "geo", "limit": "ten"}, 400, INTEGER.format("ten", "invalid syntax")),
        (
            "traces",
            {"service": "geo", "limit": "3000000000"},
            400,
            INTEGER.format("3000000000", "value out of range"),
        ),
        (
            "traces",
            {"service": "geo", "minDuration": "5"},
            400,
            "unable to parse param 'minDuration': time: missing unit in duration \"5\"",
        ),
        (
            "traces",
            {"service": "geo", "minDuration": "2s", "maxDuration": "1s"},
            400,
            "'maxDuration' should be greater than 'minDuration'",
        ),
        (
            "traces",
            {"service": "geo", "tag": "error"},
            400,
            "malformed 'tag' parameter, expecting key:value, received: error",
        ),
        (
            "traces",
            {"service": "geo", "tags": "error"},
            400,
            "malformed 'tags' parameter, cannot unmarshal JSON: "
            "invalid character 'e' looking for beginning of value",
        ),
        (
            "traces",
            {"service": "geo", "tags": '{"error":true}'},
            400,
            "malformed 'tags' parameter, cannot unmarshal JSON: "
            "json: cannot unmarshal bool into Go value of type string",
        ),
        (
            "traces",
            {"service": "geo", "tags": "[]"},
            400,
            "malformed 'tags' parameter, cannot unmarshal JSON: "
            "json: cannot unmarshal array into Go value of type map[string]string",
        ),
        (
            "dependencies",
            {"endTs": "now"},
            400,
            "unable to parse param 'endTs': " + INTEGER.format("now", "invalid syntax"),
        ),
        (
            "dependencies",
            {"lookback": "1h"},
            400,
            "unable to parse param 'lookback': " + INTEGER.format("1h", "invalid syntax"),
        ),
        ("metrics/calls", {"service": "geo"}, 501, "metrics querying is currently disabled"),
    ],
)
def test_refusals(api: JaegerApi, path: str, parameters: dict[str, str], status: int, message: str) -> None:
    assert refusal(api, f"/api/{path}", **parameters) == (status, message)


def skew(trace: Any) -> list[list[str] | None]:
    return [span["warnings"] for span in trace["spans"]]


def test_a_child_outside_its_parent_is_warned_of() -> None:
    store = TraceStore()
    store.add(Span(1, 1, 0, "a", "a", 1.0, 0.010, None, (), process("10.0.0.1")))
    store.add(Span(1, 2, 1, "b", "b", 1.009, 0.004, None, (), process("10.0.0.2")))
    store.add(Span(1, 3, 2, "b", "late, on the same host", 1.012, 0.001, None, (), process("10.0.0.2")))
    store.add(Span(1, 4, 1, "c", "longer than its parent", 1.001, 0.020, None, (), process("10.0.0.3")))
    api = JaegerApi(store, lambda: NOW_US)
    words = ["clock skew adjustment disabled; not applying calculated delta of -6ms"]
    assert skew(ask(api, "/api/traces/1")[0]) == [None, words, words, None]
    assert skew(ask(api, "/api/traces/1", raw="true")[0]) == [None] * 4


def test_a_missing_parent_and_an_id_twice_are_warned_of() -> None:
    store = TraceStore()
    store.add(Span(1, 2, 9, "a", "orphan", 1.0, 0.010, None))
    store.add(Span(1, 2, 0, "a", "again", 1.0, 0.010, None))
    assert skew(ask(JaegerApi(store, lambda: NOW_US), "/api/traces/1")[0]) == [
        ["invalid parent span IDs=0000000000000009; skipping clock skew adjustment"],
        ["duplicate span IDs; skipping clock skew adjustment"],
    ]


def test_spans_that_are_their_own_ancestors_do_no_harm() -> None:
    store = TraceStore()
    store.add(Span(1, 1, 2, "a", "a", 1.0, 0.010, None))
    store.add(Span(1, 2, 1, "b", "b", 1.0, 0.010, None))
    store.add(Span(1, 3, 3, "c", "c", 1.0, 0.010, None))
    assert skew(ask(JaegerApi(store, lambda: NOW_US), "/api/traces/1")[0]) == [None, None, None]

"""Our answers beside those of a genuine Prometheus that has the same samples.

``queries.txt`` has one query a line. Each is asked at several times and over two ranges. Numbers are
equal to twelve digits: the last ones of a transcendental function may differ.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simcloud.telemetry.prometheus_api import ApiRefusal, PrometheusApi
from tests.simcloud.telemetry.promql.genuine import Parameters, Prometheus, prometheus
from tests.simcloud.telemetry.promql.samples import END_MS, START_MS, store_with_samples

pytestmark = pytest.mark.differential("prometheus")

HERE = Path(__file__).parent
TIMES_S = [
    START_MS / 1000 - 10,
    START_MS / 1000 + 1500,
    START_MS / 1000 + 1507.25,
    END_MS / 1000,
    END_MS / 1000 + 200,
]
RANGES = [
    {"start": [str(START_MS / 1000 - 60)], "end": [str(END_MS / 1000 + 400)], "step": ["97"]},
    {"start": [str(START_MS / 1000 + 1190)], "end": [str(START_MS / 1000 + 1600)], "step": ["15s"]},
]
# Groups of buckets, and the series of a subquery that is computed, come out of a Go map.
UNORDERED = ("histogram_quantile", ":1m]", ":30s]", ":17s]")

S, E = str(START_MS / 1000), str(END_MS / 1000)
REQUESTS: list[tuple[str, Parameters]] = [
    ("labels", {}),
    ("labels", {"match[]": ["up"]}),
    ("labels", {"match[]": ["up", "temperature"]}),
    ("labels", {"start": ["1600000000"], "end": ["1600000001"]}),
    ("labels", {"match[]": ["{"]}),
    ("labels", {"start": ["x"]}),
    ("label/room/values", {}),
    ("label/__name__/values", {}),
    ("label/room/values", {"match[]": ['temperature{floor="1"}']}),
    ("label/bad-name/values", {}),
    ("label/nothing/values", {}),
    ("label/job/values", {"match[]": ["{}"]}),
    ("series", {}),
    ("series", {"match[]": ["up"]}),
    ("series", {"match[]": ["up", '{room="hall"}']}),
    ("series", {"match[]": ["up"], "start": ["1600000000"], "end": ["1600000001"]}),
    ("series", {"match[]": ["sum(up)"]}),
    ("series", {"match[]": ["up offset 5m"]}),
    ("series", {"match[]": ["up[5m]"]}),
    ("series", {"match[]": ["{}"]}),
    ("series", {"match[]": ['up{__name__="x"}']}),
    ("labels", {"match[]": ["{}"]}),
    ("label/job/values", {"match[]": ["{"]}),
    ("series", {"match[]": ["up"], "start": [S], "end": ["x"]}),
    ("query", {}),
    ("query", {"query": ["up"], "time": ["x"]}),
    ("query", {"query": ["up"], "time": ["2023-11-14T22:30:00Z"]}),
    ("query", {"query": ["up"], "time": ["2023-11-14T22:30:00.5+01:00"]}),
    ("query", {"query": ["up"], "time": ["1700000100.1234"]}),
    ("query", {"query": ["1"], "timeout": ["x"]}),
    ("query", {"query": ["1"], "time": ["1"], "timeout": ["5s"]}),
    ("query_range", {"query": ["up"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": [E]}),
    ("query_range", {"query": ["up"], "start": [E], "end": [S], "step": ["5"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": [E], "step": ["0"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": [E], "step": ["-1"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": [E], "step": ["x"]}),
    ("query_range", {"query": ["up"], "start": ["1"], "end": [E], "step": ["5"]}),
    ("query_range", {"query": ["up"], "start": ["x"], "end": [E], "step": ["5"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": ["x"], "step": ["5"]}),
    ("query_range", {"query": ["up +"], "start": [S], "end": [E], "step": ["5"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": [E], "step": ["1m"], "timeout": ["x"]}),
    ("query_range", {"query": ["up"], "start": [S], "end": [E], "step": ["1y"]}),
    ("metadata", {}),
    ("metadata", {"limit": ["x"]}),
    ("metadata", {"metric": ["up"]}),
    ("rules", {}),
    ("rules", {"type": ["x"]}),
    ("rules", {"type": ["alert"]}),
    ("alerts", {}),
    ("targets", {}),
    ("targets", {"state": ["active"]}),
]


def read_queries(name: str) -> list[str]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [
        json.loads(line) if line.startswith('"') else line
        for line in lines
        if line and not line.startswith("#")
    ]


QUERIES = read_queries("queries.txt")
MISTAKES = read_queries("mistakes.txt")


class Pair:
    """The genuine server and ours, asked the same."""

    def __init__(self, genuine: Prometheus) -> None:
        store = store_with_samples()
        genuine.load(store)
        self.genuine = genuine
        self.ours = PrometheusApi(store, lambda: END_MS)

    def ask(self, path: str, parameters: Parameters) -> tuple[dict[str, Any], dict[str, Any]]:
        theirs = self.genuine.ask(path, parameters)
        try:
            ours = self.ours.answer(path, parameters)
        except ApiRefusal as refusal:
            ours = refusal.document
        return ours, theirs


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with prometheus(tmp_path_factory.mktemp("prometheus")) as genuine:
        yield Pair(genuine)


def test_there_are_enough_queries() -> None:
    assert len(set(QUERIES)) >= 300
    assert len(set(MISTAKES)) >= 150


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_equal(pair: Pair, query: str) -> None:
    for time_s in TIMES_S:
        ours, theirs = pair.ask("query", {"query": [query], "time": [str(time_s)]})
        assert settled(ours, query, theirs) == settled(theirs, query, theirs), f"at {time_s}"
    for span in RANGES:
        ours, theirs = pair.ask("query_range", {"query": [query], **span})
        assert settled(ours, query, theirs) == settled(theirs, query, theirs), f"over {span}"


@pytest.mark.parametrize("query", MISTAKES)
def test_mistakes_are_told_in_the_same_words(pair: Pair, query: str) -> None:
    ours, theirs = pair.ask("query", {"query": [query], "time": [str(END_MS / 1000)]})
    assert ours == theirs


@pytest.mark.parametrize(("path", "parameters"), REQUESTS, ids=str)
def test_other_requests_are_answered_alike(pair: Pair, path: str, parameters: Parameters) -> None:
    ours, theirs = pair.ask(path, parameters)
    assert ours == theirs


def settled(document: dict[str, Any], query: str, other: dict[str, Any]) -> Any:
    """A document with what has no order sorted, and numbers that are as good as equal made equal."""
    if document["status"] == "error":
        return document
    data = document["data"]
    if data["resultType"] in ("scalar", "string"):
        return [data["resultType"], *_numbers([data["result"]])]
    rows = [
        (tuple(sorted(row["metric"].items())), _numbers(row.get("values") or [row["value"]]))
        for row in data["result"]
    ]
    ordered = data["resultType"] == "vector" and not any(mark in query for mark in UNORDERED)
    return data["resultType"], rows if ordered else sorted(rows, key=lambda row: row[0])


def _numbers(points: list[list[Any]]) -> list[tuple[float, str]]:
    return [(time, _rounded(text)) for time, text in points]


def _rounded(text: str) -> str:
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value) or abs(value) < 1e-12:
        return text if not math.isfinite(value) or value == 0 else "~0"
    return f"{value:.12e}"

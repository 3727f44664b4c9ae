from __future__ import annotations

import csv
import io
import json
import math
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given, settings, strategies as st
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from simcloud.kubernetes.api.store import Key, RevisionLog
from simcloud.machine.emit import LogLine, Span
from simcloud.telemetry.export import (
    Column,
    ExportError,
    Facts,
    Period,
    Sources,
    Table,
    csv_lines,
    metric_names,
    metric_table,
    write_dataset,
)
from simcloud.telemetry.logs import LogStore
from simcloud.telemetry.logs.store import SECOND_NS
from simcloud.telemetry.metrics import STALE, Matcher, MetricStore
from simcloud.telemetry.traces import TraceStore

EPOCH_S = 1_767_603_600
PERIOD = Period(EPOCH_S * SECOND_NS, (EPOCH_S + 100) * SECOND_NS)
NASTY = [
    'say "hi", twice',
    "two\nlines",
    "carriage\rreturn",
    "é ☃ \U0001f600",
    "",
    " spaces ",
    "=1+1",
    "NaN",
    "null",
]


class Clock:
    now = 0.0


@pytest.fixture
def sources() -> Sources:
    logs = LogStore()
    origin = (
        ("app", "web"),
        ("container", "c"),
        ("namespace", "shop"),
        ("node_name", "n1"),
        ("pod", "web-1"),
    )
    for number, text in enumerate(NASTY):
        logs.add(LogLine(EPOCH_S + number, "s", "stdout", text, origin))
    logs.add(LogLine(EPOCH_S + 2.5, "s", "stderr", "between", (("pod", "other"),)))
    logs.add(LogLine(EPOCH_S + 100, "s", "stdout", "too late", origin))
    metrics = MetricStore()
    up = metrics.series("up", (("job", "a"), ("value", "odd")))
    for number, value in enumerate([1.0, 0.1 + 0.2, math.nan, math.inf, -math.inf, STALE, 1e-300]):
        metrics.append(up, (EPOCH_S + number) * 1000, value)
    metrics.append(metrics.series("job:up:sum", (("namespace", "shop"),)), EPOCH_S * 1000 + 7, 3.0)
    traces = TraceStore(epoch_s=EPOCH_S)
    traces.add(
        Span(0xABC, 2, 1, "geo", "/geo.Geo/Nearby", 1.5, 0.002, "boom", (("http.status_code", "500"),))
    )
    traces.add(Span(0xABC, 1, 0, "front, end", "GET /", 1.25, 0.5, None))
    clock = Clock()
    revisions = RevisionLog(lambda: clock.now)
    pod = Key("", "pods", "shop", "web-1")
    revisions.put(
        pod, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-1"}, "text": 'a,"b"\n'}, "admin"
    )
    clock.now = 3.25
    event: dict[str, Any] = {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": "web-1.17", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1"},
        "reason": "BackOff",
        "message": 'Back-off "x", again',
        "type": "Warning",
        "count": 4,
        "source": {"component": "kubelet", "host": "n1"},
    }
    revisions.put(Key("", "events", "shop", "web-1.17"), event, "kubelet")
    revisions.remove(pod, "admin")
    clock.now = 200.0
    revisions.put(pod, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-1"}})
    return Sources(logs, metrics, traces, revisions, EPOCH_S)


def write(folder: Path, sources: Sources, *formats: str, **more: Any) -> dict[str, Any]:
    return write_dataset(folder, sources, Facts(7, PERIOD), formats, **more)


LOGS = [*((number, text) for number, text in enumerate(NASTY))]
LOGS.insert(3, (2.5, "between"))


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_files_have_what_was_recorded(tmp_path: Path, sources: Sources) -> None:
    manifest = write(tmp_path / "new" / "set", sources, "csv")
    folder = tmp_path / "new" / "set"
    logs = read_csv(folder / "logs.csv")
    assert [
        ((int(row["timestamp_ns"]) - PERIOD.start_ns) / SECOND_NS, row["message"]) for row in logs
    ] == LOGS
    assert (logs[0]["namespace"], logs[0]["node_name"], logs[3]["pod"]) == ("shop", "n1", "other")
    assert read_csv(folder / "traces.csv") == [
        {
            "trace_id": "0000000000000abc",
            "span_id": "0000000000000002",
            "parent_span": "0000000000000001",
            "service_name": "geo",
            "operation_name": "/geo.Geo/Nearby",
            "start_time": str(EPOCH_S * 1_000_000 + 1_500_000),
            "duration": "2000",
            "has_error": "True",
            "response": "500",
        },
        {
            "trace_id": "0000000000000abc",
            "span_id": "0000000000000001",
            "parent_span": "ROOT",
            "service_name": "front, end",
            "operation_name": "GET /",
            "start_time": str(EPOCH_S * 1_000_000 + 1_250_000),
            "duration": "500000",
            "has_error": "False",
            "response": "Unknown",
        },
    ]
    assert {name: table["rows"] for name, table in manifest["tables"].items()} == {
        "logs": len(LOGS),
        "metrics": 8,
        "traces": 2,
        "events": 1,
        "objects": 3,
    }


def test_events_and_objects_over_time(tmp_path: Path, sources: Sources) -> None:
    write(tmp_path, sources, "csv")
    (event,) = read_csv(tmp_path / "events.csv")
    assert event["timestamp_ms"] == str(EPOCH_S * 1000 + 3250)
    assert (event["reason"], event["object_name"], event["count"]) == ("BackOff", "web-1", "4")
    assert event["message"] == 'Back-off "x", again'
    objects = read_csv(tmp_path / "objects.csv")
    assert [(row["verb"], row["kind"], row["resource_version"], row["user"]) for row in objects] == [
        ("ADDED", "Pod", "1", "admin"),
        ("ADDED", "Event", "2", "kubelet"),
        ("DELETED", "Pod", "3", "admin"),
    ]
    assert json.loads(objects[0]["document"])["text"] == 'a,"b"\n'


def test_every_metric_has_a_file_of_its_own(tmp_path: Path, sources: Sources) -> None:
    manifest = write(tmp_path, sources, "csv")
    assert [(each["metric"], each["rows"], each["file"]) for each in manifest["metrics"]] == [
        ("job:up:sum", 1, "metrics/job.up.sum.csv"),
        ("up", 6, "metrics/up.csv"),
    ]
    rows = read_csv(tmp_path / "metrics" / "up.csv")
    assert list(rows[0]) == ["timestamp", "job", "label_value", "value"]
    assert [row["value"] for row in rows] == ["1.0", "0.30000000000000004", "NaN", "inf", "-inf", "1e-300"]
    shop = (Matcher("namespace", "=", "shop"),)
    assert metric_names(sources.metrics, PERIOD, shop) == ["job:up:sum"]
    assert list(metric_table(sources.metrics, "up", PERIOD, (Matcher("job", "=", "b"),)).rows()) == []


def test_the_manifest_explains_it(tmp_path: Path, sources: Sources) -> None:
    truth = {"fault": "revoke_auth", "targets": ["mongodb-geo"]}
    manifest = write(tmp_path, sources, "csv", ground_truth=truth)
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest
    assert (manifest["seed"], manifest["start"], manifest["end"]) == (
        7,
        "2026-01-05T09:00:00.000Z",
        "2026-01-05T09:01:40.000Z",
    )
    assert json.loads((tmp_path / manifest["ground_truth"]).read_text()) == truth
    columns = [column["name"] for column in manifest["tables"]["traces"]["columns"]]
    assert columns == (tmp_path / "traces.csv").read_text().splitlines()[0].split(",")


def test_without_a_fault_there_is_no_ground_truth(tmp_path: Path, sources: Sources) -> None:
    assert write(tmp_path, sources, "csv")["ground_truth"] is None
    assert not (tmp_path / "ground_truth.json").exists()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_pandas_and_pyarrow_read_back_what_was_recorded(
    tmp_path: Path, sources: Sources, format: str
) -> None:
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    manifest = write(tmp_path, sources, "csv", "parquet")

    def frame(name: str) -> Any:
        if format == "csv":
            return pandas.read_csv(
                tmp_path / f"{name}.csv", keep_default_na=False, na_values={"value": ["NaN"]}
            )
        return parquet.read_table(tmp_path / f"{name}.parquet").to_pandas()

    logs = frame("logs")
    assert list(zip((logs.timestamp_ns - PERIOD.start_ns) / SECOND_NS, logs.message, strict=True)) == LOGS
    metrics = frame("metrics")
    up = metrics[metrics.metric == "up"]
    assert list(up.timestamp_ms) == [(EPOCH_S + number) * 1000 for number in range(7)]
    assert list(up.stale) == [False] * 5 + [True, False]
    values = list(up.value)
    assert values[:2] + values[3:5] + values[6:] == [1.0, 0.1 + 0.2, math.inf, -math.inf, 1e-300]
    assert math.isnan(values[2]) and math.isnan(values[5])
    assert json.loads(up.labels.iloc[0]) == {"job": "a", "value": "odd"}
    traces = frame("traces")
    assert list(traces.duration) == [2000, 500_000]
    assert list(traces.has_error) == [True, False]
    assert list(traces.parent_span) == ["0000000000000001", "ROOT"]
    assert list(frame("events").message) == ['Back-off "x", again']
    assert [json.loads(text)["kind"] for text in frame("objects").document] == ["Pod", "Event", "Pod"]
    for name, table in manifest["tables"].items():
        assert len(frame(name)) == table["rows"]
        assert list(frame(name).columns) == [column["name"] for column in table["columns"]]


def test_what_cannot_be_written_is_said_with_a_way_out(
    tmp_path: Path, sources: Sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ExportError, match=r"is not empty. Name another folder, or remove what is in it"):
        write(tmp_path, sources, "csv")
    with pytest.raises(ExportError, match=r"is a file. Name a folder that does not exist yet"):
        write(tmp_path / "file", sources, "csv")
    with pytest.raises(
        ExportError, match=r"There is no format 'xml' .* Choose csv, parquet, otlp, or several: csv,otlp"
    ):
        write(tmp_path / "new", sources, "xml")
    with pytest.raises(ExportError, match=r"cannot be written .* Name another folder"):
        write(tmp_path / "file" / "below", sources, "csv")
    monkeypatch.setattr("simcloud.telemetry.export.dataset.has_pyarrow", lambda: False)
    with pytest.raises(ExportError, match=r"pip install 'aiopslab-in-a-box\[export\]'"):
        write(tmp_path / "new", sources, "parquet")


def read_otlp(path: Path, message: type[Any]) -> list[Any]:
    """Parse each line with OpenTelemetry's own messages; OTLP has hexadecimal ids where ProtoJSON has base64."""

    def replace_ids(pair: dict[str, Any]) -> dict[str, Any]:
        for name in {"traceId", "spanId", "parentSpanId"} & pair.keys():
            pair[name] = b64encode(bytes.fromhex(pair[name])).decode()
        return pair

    lines = path.read_text(encoding="utf-8").splitlines()
    return [ParseDict(json.loads(line, object_hook=replace_ids), message()) for line in lines]


def test_opentelemetry_reads_back_what_was_recorded(tmp_path: Path, sources: Sources) -> None:
    manifest = write(tmp_path / "set", sources, "otlp", ground_truth={"fault": "x"})
    assert manifest["otlp"] == {"traces.jsonl": 2, "metrics.jsonl": 8, "logs.jsonl": len(LOGS)}
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == [
        *("ground_truth.json", "logs.jsonl", "manifest.json", "metrics.jsonl", "traces.jsonl")
    ]
    (traces,) = read_otlp(tmp_path / "set" / "traces.jsonl", TracesData)
    failed = traces.resource_spans[0].scope_spans[0].spans[0]
    assert (failed.trace_id.hex(), failed.span_id.hex()) == (f"{0xABC:032x}", f"{2:016x}")
    assert (failed.name, failed.status.code, failed.status.message) == ("/geo.Geo/Nearby", 2, "boom")
    assert failed.end_time_unix_nano - failed.start_time_unix_nano == 2_000_000
    assert failed.start_time_unix_nano == EPOCH_S * SECOND_NS + 1_500_000_000
    assert traces.resource_spans[1].resource.attributes[0].value.string_value == "front, end"
    families = [
        metric
        for line in read_otlp(tmp_path / "set" / "metrics.jsonl", MetricsData)
        for metric in line.resource_metrics[0].scope_metrics[0].metrics
    ]
    up = next(metric for metric in families if metric.name == "up").gauge.data_points
    values = [point.as_double for point in up if not point.flags]
    assert values[:2] == [1.0, 0.1 + 0.2]
    assert math.isnan(values[2])
    assert values[3:] == [math.inf, -math.inf, 1e-300]
    assert [point.flags for point in up] == [0, 0, 0, 0, 0, 1, 0]
    lines = [
        record
        for data in read_otlp(tmp_path / "set" / "logs.jsonl", LogsData)
        for record in data.resource_logs[0].scope_logs[0].log_records
    ]
    assert sorted(record.body.string_value for record in lines) == sorted(text for _, text in LOGS)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=150)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_any_text_survives_csv(rows: list[tuple[str, str]]) -> None:
    columns = (Column("a", "string", ""), Column("b", "string", ""))
    text = "".join(csv_lines(Table("t", columns, lambda: iter(rows))))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [["a", "b"], *map(list, rows)]

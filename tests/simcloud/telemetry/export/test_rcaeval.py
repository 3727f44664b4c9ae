"""A failure case: what its files hold, calls that never finished included; RCAEval itself is optional."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from simcloud.kubernetes.api.store import RevisionLog
from simcloud.machine.emit import LogLine, Span
from simcloud.telemetry.export import Case, ExportError, Period, Sources, write_case
from simcloud.telemetry.logs import LogStore
from simcloud.telemetry.logs.store import SECOND_NS
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.traces import TraceStore

EPOCH_S = 1_767_603_600
PERIOD = Period(EPOCH_S * SECOND_NS, (EPOCH_S + 101) * SECOND_NS)
INJECTED_S = EPOCH_S + 50
HANGING = Span(9, 9, 0, "geo", "GET /", 90.0, 10.0, None)
CASE = Case(PERIOD, "shop", ["geo", "geo-cache"], INJECTED_S, 10.0, [HANGING])


@pytest.fixture
def sources() -> Sources:
    """Two components; after the fault, geo uses ten times the memory and every second call fails."""
    logs, metrics, traces = LogStore(), MetricStore(), TraceStore(epoch_s=EPOCH_S)
    for pod in ("geo-7b-x", "geo-cache-7b-y", "other-1"):
        labels = (("namespace", "shop"), ("pod", pod))
        logs.add(LogLine(EPOCH_S + 5, "s", "stdout", f"from {pod}", labels))
        memory = metrics.series("container_memory_working_set_bytes", labels)
        cpu = metrics.series("container_cpu_usage_seconds_total", labels)
        for number in range(11):
            now_ms = (EPOCH_S + number * 10) * 1000
            grown = 10 if pod == "geo-7b-x" and number > 5 else 1
            metrics.append(memory, now_ms, (1000.0 + number) * grown)
            metrics.append(cpu, now_ms, 5.0 * number if number < 8 else 5.0 * (number - 8))
    for number in range(50):
        failed = "boom" if number > 25 and number % 2 else None
        traces.add(Span(number + 100, number + 100, 0, "geo", "GET /", number * 2.0, 0.25, failed))
    return Sources(logs, metrics, traces, RevisionLog(lambda: 0.0), EPOCH_S)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_files_of_a_case(tmp_path: Path, sources: Sources) -> None:
    rows = write_case(tmp_path / "case", sources, CASE)
    assert rows == {"simple_metrics.csv": 10, "logs.csv": 2, "traces.csv": 51}
    metrics = read_csv(tmp_path / "case" / "simple_metrics.csv")
    assert list(metrics[0]) == [
        "time",
        *(f"geo-cache_{name}" for name in ("cpu", "mem")),
        *(f"geo_{name}" for name in ("cpu", "error", "latency-50", "latency-90", "mem", "workload")),
    ]
    assert [int(row["time"]) - EPOCH_S for row in metrics] == list(range(10, 101, 10))
    assert [float(row["geo_mem"]) for row in metrics[3:7]] == [1004.0, 1005.0, 10060.0, 10070.0]
    # The rate survives the restart of the counter.
    assert [float(row["geo_cpu"]) for row in metrics] == [0.5] * 7 + [0.0] + [0.5] * 2
    assert [float(row["geo_workload"]) for row in metrics] == [0.5] * 10
    assert [float(row["geo_error"]) for row in metrics] == [0.0] * 5 + [0.2, 0.2, 0.3, 0.2, 0.3]
    assert {row["geo_latency-90"] for row in metrics} == {"0.25"}
    points = json.loads((tmp_path / "case" / "metrics.json").read_text())
    assert points["geo_mem"][5] == [EPOCH_S + 60, 10060.0]
    logs = read_csv(tmp_path / "case" / "logs.csv")
    assert [(row["container_name"], row["message"]) for row in logs] == [
        ("geo", "from geo-7b-x"),
        ("geo-cache", "from geo-cache-7b-y"),
    ]
    assert (tmp_path / "case" / "inject_time.txt").read_text() == f"{INJECTED_S}\n"
    last = read_csv(tmp_path / "case" / "traces.csv")[-1]
    assert (last["spanID"], last["duration"], last["statusCode"]) == (f"{9:016x}", "10000000", "0")
    assert int(last["startTime"]) == (EPOCH_S + 90) * 1_000_000


def test_a_time_without_metrics_is_no_case(tmp_path: Path, sources: Sources) -> None:
    late = Period(PERIOD.end_ns, PERIOD.end_ns + SECOND_NS)
    with pytest.raises(ExportError, match="Export more minutes"):
        write_case(tmp_path / "case", sources, Case(late, "shop", ["geo"], INJECTED_S, 10.0, []))


def test_rcaeval_reads_a_case_and_ranks_its_cause_first(tmp_path: Path, sources: Sources) -> None:
    pytest.importorskip("RCAEval", reason="the extra rcaeval is not installed")
    from RCAEval.e2e.baro import baro
    from RCAEval.utility import read_logs, read_metrics, read_traces

    write_case(tmp_path / "case", sources, CASE)
    metrics = read_metrics(tmp_path / "case")
    assert len(metrics) == 10
    assert baro(metrics, INJECTED_S, dataset="aiopslab")["ranks"][0] == "geo_mem"
    assert len(read_logs(tmp_path / "case")) == 2
    assert len(read_traces(tmp_path / "case")) == 51

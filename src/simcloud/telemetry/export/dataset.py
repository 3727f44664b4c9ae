"""A folder with all recorded data: tables, the ground truth, and a manifest that documents them.

The same world gives the same bytes of CSV and JSON. No file contains the time or place of the export.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from simcloud.kubernetes.api import RevisionLog
from simcloud.telemetry.export.csv_files import write_csv
from simcloud.telemetry.export.metrics import metric_names, metric_table, table_of_metrics
from simcloud.telemetry.export.otlp import write_otlp
from simcloud.telemetry.export.parquet_files import has_pyarrow, write_parquet
from simcloud.telemetry.export.tables import (
    Period,
    Table,
    table_of_events,
    table_of_logs,
    table_of_objects,
    table_of_traces,
)
from simcloud.telemetry.logs import LogStore
from simcloud.telemetry.logs.store import SECOND_NS
from simcloud.telemetry.metrics import MetricStore
from simcloud.telemetry.traces import TraceStore

FORMATS: Final = ("csv", "parquet", "otlp")
MANIFEST: Final = "manifest.json"
GROUND_TRUTH: Final = "ground_truth.json"
METRICS_FOLDER: Final = "metrics"


class ExportError(Exception):
    """A data set cannot be written; the text says what to do."""


class Sources(Struct, frozen=True):
    """The stores of the data. ``epoch_s`` is the time of day at which virtual time begins."""

    logs: LogStore
    metrics: MetricStore
    traces: TraceStore
    revisions: RevisionLog
    epoch_s: float


class Facts(Struct, frozen=True):
    """The contents of the manifest besides the tables."""

    seed: int
    period: Period
    more: Mapping[str, Any] = field(default_factory=dict)


def check_request(folder: Path, formats: Sequence[str]) -> None:
    """Raise ``ExportError`` when nothing could be written in the end."""
    for name in formats:
        if name not in FORMATS:
            known = ", ".join(FORMATS)
            raise ExportError(
                f"There is no format '{name}' for telemetry. Choose {known}, or several: csv,otlp."
            )
    if "parquet" in formats and not has_pyarrow():
        raise ExportError(
            "Parquet needs pyarrow, which is not installed. Install it by"
            " pip install 'aiopslab-in-a-box[export]', or export csv only."
        )
    check_new_folder(folder)


def check_new_folder(folder: Path) -> None:
    """Raise ``ExportError`` for a file, and for a folder that is not empty."""
    if folder.exists() and not folder.is_dir():
        raise ExportError(f"{folder} is a file. Name a folder that does not exist yet.")
    if folder.is_dir() and any(folder.iterdir()):
        raise ExportError(f"{folder} is not empty. Name another folder, or remove what is in it.")


def write_dataset(
    folder: Path,
    sources: Sources,
    facts: Facts,
    formats: Sequence[str] = ("csv", "parquet"),
    ground_truth: Mapping[str, Any] | None = None,
    tell: Callable[[str], None] = lambda words: None,
) -> dict[str, Any]:
    """Write a data set and return its manifest. ``tell`` hears what is being written."""
    check_request(folder, formats)
    tables = _tables(sources, facts.period) if {"csv", "parquet"} & set(formats) else []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        manifest = _head(facts, ground_truth is not None)
        for table in tables:
            tell(f"writing {table.name}")
            manifest["tables"][table.name] = _write(folder, table, formats)
        manifest["metrics"] = (
            _write_metrics(folder, sources.metrics, facts.period) if "csv" in formats else []
        )
        if "otlp" in formats:
            tell("writing OTLP")
            stores = (sources.logs, sources.metrics, sources.traces)
            manifest["otlp"] = write_otlp(folder, *stores, facts.period)
        if ground_truth is not None:
            _write_json(folder / GROUND_TRUTH, ground_truth)
        _write_json(folder / MANIFEST, manifest)
    except OSError as error:
        place = error.filename or folder
        raise ExportError(f"{place} cannot be written ({error.strerror}). Name another folder.") from None
    return manifest


def _tables(sources: Sources, period: Period) -> list[Table]:
    return [
        table_of_logs(sources.logs, period),
        table_of_metrics(sources.metrics, period),
        table_of_traces(sources.traces, period),
        table_of_events(sources.revisions, sources.epoch_s, period),
        table_of_objects(sources.revisions, sources.epoch_s, period),
    ]


def _head(facts: Facts, has_truth: bool) -> dict[str, Any]:
    return {
        "name": "aiopslab-in-a-box",
        "version": _version(),
        "seed": facts.seed,
        **facts.more,
        "start": _moment(facts.period.start_ns),
        "end": _moment(facts.period.end_ns),
        "ground_truth": GROUND_TRUTH if has_truth else None,
        "tables": {},
    }


def _version() -> str:
    try:
        return version("aiopslab-in-a-box")
    except PackageNotFoundError:
        return "source"  # run where it is written, never installed


def _write(folder: Path, table: Table, formats: Sequence[str]) -> dict[str, Any]:
    files, rows = [], 0
    if "csv" in formats:
        files.append(f"{table.name}.csv")
        rows = write_csv(table, folder / files[-1])
    if "parquet" in formats:
        files.append(f"{table.name}.parquet")
        rows = write_parquet(table, folder / files[-1])
    columns = [{"name": name, "type": kind, "meaning": meaning} for name, kind, meaning in table.columns]
    return {"rows": rows, "files": files, "columns": columns}


def _write_metrics(folder: Path, store: MetricStore, period: Period) -> list[dict[str, Any]]:
    """One file per metric."""
    (folder / METRICS_FOLDER).mkdir()
    written = []
    for name in metric_names(store, period):
        file = f"{METRICS_FOLDER}/{file_name(name)}"
        rows = write_csv(metric_table(store, name, period), folder / file)
        written.append({"metric": name, "rows": rows, "file": file})
    return written


def file_name(metric: str) -> str:
    """Return the file of a metric. A colon is not allowed in names of files everywhere; no metric has a point."""
    return f"{metric.replace(':', '.')}.csv"


def _moment(time_ns: int) -> str:
    moment = datetime.fromtimestamp(time_ns // SECOND_NS, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{time_ns % SECOND_NS // 1_000_000:03d}Z"


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

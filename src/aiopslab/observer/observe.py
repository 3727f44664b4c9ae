"""Collection of all telemetry, by the names of the public AIOpsLab release."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from aiopslab.observer import monitor_config
from aiopslab.observer.log_api import LogAPI
from aiopslab.observer.metric_api import PrometheusAPI
from aiopslab.observer.trace_api import TraceAPI


def collect_traces(start_time: datetime, end_time: datetime, folder: Path | str = ".") -> None:
    """Write the traces of a period into the folder ``trace_output``."""
    tracer = TraceAPI(monitor_config["namespace"])
    tracer.save_traces(
        tracer.process_traces(tracer.extract_traces(start_time, end_time)), Path(folder) / "trace_output"
    )


def collect_logs(start_time: datetime, end_time: datetime, folder: Path | str = ".") -> None:
    """Write the logs of a period into the folder ``log_output``."""
    LogAPI().log_extract(start_time, end_time, Path(folder) / "log_output")


def collect_metrics(start_time: datetime, end_time: datetime, folder: Path | str = ".") -> None:
    """Write the metrics of a period into the folder ``metrics_output``."""
    prometheus = PrometheusAPI(monitor_config["prometheusApi"], monitor_config["namespace"])
    prometheus.export_all_metrics(start_time, end_time, Path(folder) / "metrics_output")

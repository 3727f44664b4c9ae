"""Data sets for the offline training and comparison of algorithms."""

from simcloud.telemetry.export.csv_files import csv_lines
from simcloud.telemetry.export.dataset import ExportError, Facts, Sources, check_request, write_dataset
from simcloud.telemetry.export.metrics import metric_names, metric_table
from simcloud.telemetry.export.tables import Column, Period, Table, table_of_traces

__all__ = [
    "Column",
    "ExportError",
    "Facts",
    "Period",
    "Sources",
    "Table",
    "check_request",
    "csv_lines",
    "metric_names",
    "metric_table",
    "table_of_traces",
    "write_dataset",
]

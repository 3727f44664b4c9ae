"""Data sets for people who train and compare algorithms offline."""

from aiopslab.observer.export.csv_files import csv_lines
from aiopslab.observer.export.dataset import ExportError, Facts, Sources, check_request, write_dataset
from aiopslab.observer.export.metrics import metric_names, metric_table
from aiopslab.observer.export.tables import Column, Period, Table, table_of_traces

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

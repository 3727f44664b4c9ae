"""Data sets for the offline training and comparison of algorithms."""

from simcloud.exports import export_lazily
from simcloud.telemetry.export.csv_files import csv_lines as csv_lines
from simcloud.telemetry.export.dataset import (
    ExportError as ExportError,
    Facts as Facts,
    Sources as Sources,
    check_new_folder as check_new_folder,
    check_request as check_request,
    file_name as file_name,
    write_dataset as write_dataset,
)
from simcloud.telemetry.export.metrics import metric_names as metric_names, metric_table as metric_table
from simcloud.telemetry.export.tables import (
    TRACE_COLUMNS as TRACE_COLUMNS,
    Column as Column,
    Period as Period,
    Table as Table,
    table_of_logs as table_of_logs,
    table_of_traces as table_of_traces,
)

with export_lazily(globals()):
    from simcloud.telemetry.export.rcaeval import Case as Case, write_case as write_case

"""Traces of requests: exported as a file, and read."""

from __future__ import annotations

from typing import Final

from aiopslab.orchestrator.actions.base import ActionFailed, check_minutes, in_words
from aiopslab.orchestrator.actions.exports import ExportActions
from aiopslab.orchestrator.actions.registry import action
from aiopslab.orchestrator.actions.summaries import trace_summary
from simcloud.telemetry.export import Table, csv_lines
from simcloud.telemetry.export.tables import TRACE_COLUMNS
from simcloud.telemetry.traces import TraceView
from simcloud.telemetry.traces.records import record

MOST_SPANS: Final = 10_000
"""Of more, every second or third request is taken with all its spans, so that the whole period is seen."""


class TraceActions(ExportActions):
    """Requests on their way through the services."""

    @action
    def get_traces(self, namespace: str, duration: float = 5) -> str:
        """
        Exports the traces of a namespace's services to a CSV file on your host, a row for each span: trace_id, span_id,
        parent_span (ROOT for the first), service_name, operation_name, start_time and duration in microseconds,
        has_error, response. Read it with read_traces, or with exec_shell (grep, awk, sort).

        Args:
            namespace (str): The namespace that the problem names, or another one such as "kube-system".
            duration (float): How many minutes back from now.

        Returns:
            str: The path of the file.
        """
        self._check_namespace(namespace)
        check_minutes(duration)
        own = self.environment.namespace
        if namespace != own:
            raise ActionFailed(
                f"No service of {namespace!r} sends traces; those of the application are in {own!r}."
            )
        end_us = self.environment.monitoring.now_us()
        start_us = end_us - round(duration * 60e6)
        spans = list(TraceView(self.environment.world.emitter.traces).spans_between(start_us, end_us))
        if not spans:
            raise ActionFailed(
                f"No span was recorded in the last {in_words(duration)}: no request reached a service."
            )
        share = -(-len(spans) // MOST_SPANS)
        rows = [record(span) for span in spans if span.trace_id % share == 0]
        path = f"{self._place('traces', namespace)}.csv"
        self._write(path, csv_lines(Table("traces", TRACE_COLUMNS, lambda: iter(rows))))
        which = f"one request in {share}, a shorter duration has all: " if share > 1 else ""
        return (
            f"The traces of the last {in_words(duration)} ({which}{len(rows)} spans) are in {path} on your host. "
            f'Read them with read_traces("{path}"), or find failures with exec_shell("grep ,True, {path} | tail").'
        )

    @action
    def read_traces(self, file_path: str) -> str:
        """
        Shows a file that get_traces has exported. A long one is summed up: how often, how well and how fast each
        service did each operation; then the spans that failed, and the slowest.

        Args:
            file_path (str): The path of the file.

        Returns:
            str: The rows, or the summary.
        """
        return trace_summary(self._read(file_path, "get_traces"), file_path)

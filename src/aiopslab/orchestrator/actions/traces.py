"""Traces of requests: exported to a file and read from it."""

from __future__ import annotations

from typing import Final

from aiopslab.orchestrator.actions.environment_actions import ActionFailed, check_minutes, format_minutes
from aiopslab.orchestrator.actions.exports import ExportActions
from aiopslab.orchestrator.actions.registry import action
from aiopslab.orchestrator.actions.summaries import summarize_traces
from simcloud.telemetry.export import TRACE_COLUMNS, Table, csv_lines
from simcloud.telemetry.traces import TraceView, record

MAX_SPANS: Final = 10_000
"""With more spans, every second or third request is exported in full, so that the whole period is covered."""


class TraceActions(ExportActions):
    """Actions on traces."""

    @action
    def get_traces(self, namespace: str, duration: float = 5) -> str:
        """
        Exports the traces of a namespace's services to a CSV file on your host, one row per span: trace_id, span_id,
        parent_span (ROOT for the first), service_name, operation_name, start_time and duration in microseconds,
        has_error, response. Read it with read_traces, or with exec_shell (grep, awk, sort).

        Args:
            namespace (str): The namespace given in the problem, or another such as "kube-system".
            duration (float): Number of minutes to look back.

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
        missing = self.environment.refresh()
        end_us = self.environment.monitoring.now_us()
        start_us = end_us - round(duration * 60e6)
        spans = list(TraceView(self.environment.world.emitter.traces).spans_between(start_us, end_us))
        if not spans:
            raise ActionFailed(
                f"No span was recorded in the last {format_minutes(duration)}: {missing or 'no request reached a service.'}"
            )
        share = -(-len(spans) // MAX_SPANS)
        rows = [record(span) for span in spans if span.trace_id % share == 0]
        path = f"{self._make_path('traces', namespace)}.csv"
        self._write(path, csv_lines(Table("traces", TRACE_COLUMNS, lambda: iter(rows))))
        which = f"1 of {share} requests; use a shorter duration for all: " if share > 1 else ""
        return (
            f"The traces of the last {format_minutes(duration)} ({which}{len(rows)} spans) are in {path} on your host. "
            f'Read them with read_traces("{path}"), or find failures with exec_shell("grep ,True, {path} | tail").'
            + (f" Newer ones are missing: {missing}" if missing else "")
        )

    @action
    def read_traces(self, file_path: str) -> str:
        """
        Shows a file exported by get_traces. If it is too long, it is summarized: number of spans, errors and latencies of
        each service and operation; then the failed spans, and the slowest requests.

        Args:
            file_path (str): The path of the file.

        Returns:
            str: The rows, or the summary.
        """
        return summarize_traces(self._read(file_path, "get_traces"), file_path)

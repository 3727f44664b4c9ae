"""Metrics: exported to files and read from them."""

from __future__ import annotations

import re
from typing import Final

from aiopslab.orchestrator.actions.environment_actions import ActionFailed, check_minutes, format_minutes
from aiopslab.orchestrator.actions.exports import ExportActions
from aiopslab.orchestrator.actions.observations import format_head
from aiopslab.orchestrator.actions.registry import action
from aiopslab.orchestrator.actions.summaries import summarize_metrics
from simcloud.telemetry.export import Period, csv_lines, file_name, metric_names, metric_table
from simcloud.telemetry.logs import SECOND_NS
from simcloud.telemetry.metrics import Matcher

_OMITTED: Final = re.compile(
    r".*(_bucket|_created|_generation|_info|_owner|_start_time_seconds|_cpu_period|_load_average_10s|_mapped_file"
    r"|_memory_swap|_spec_type|_status_scheduled)|ALERTS_FOR_STATE|scrape_.*|kube_replicaset_.*|kube_namespace_.*"
)
"""Constants and bookkeeping. Histograms are exported by their sums and counts, and by the recorded p99."""
NODES: Final = (
    "node_cpu_seconds_total", "node_filesystem_avail_bytes", "node_load1", "node_memory_MemAvailable_bytes",
    "node_network_receive_drop_total", "node_network_receive_errs_total", "node_network_transmit_drop_total",
    "node_network_transmit_errs_total", "kube_node_status_condition",
)  # fmt: skip
CLUTTER: Final = frozenset({"cpu", "id", "image", "instance", "interface", "job", "name", "namespace", "uid"})
"""Labels that carry no information here, or are the same in every row."""


class MetricActions(ExportActions):
    """Actions on metrics."""

    @action
    def get_metrics(self, namespace: str, duration: float = 5) -> str:
        """
        Exports the metrics of a namespace to CSV files on your host, one file per metric: CPU, memory, restarts and
        network of its containers; requests, errors and latencies of its services; states of its workloads; and
        metrics of the nodes. Read them with read_metrics, or with exec_shell (cat, head, grep, awk).

        Args:
            namespace (str): The namespace given in the problem, or another such as "kube-system".
            duration (float): Number of minutes to look back.

        Returns:
            str: The folder, and its files with their numbers of rows.
        """
        self._check_namespace(namespace)
        check_minutes(duration)
        now_ns = self.environment.monitoring.now_ns()
        selectors = f'{{namespace="{namespace}"}}', f'{{__name__=~"{"|".join(NODES)}"}}'
        store = self._reach_prometheus().read(selectors, duration * 60)
        period = Period(now_ns - round(duration * 60 * SECOND_NS), now_ns + 1)
        in_namespace = (Matcher("namespace", "=", namespace),)
        chosen = {
            name: in_namespace
            for name in metric_names(store, period, in_namespace)
            if not _OMITTED.fullmatch(name)
        }
        if not chosen:
            raise ActionFailed(
                f"No metric of {namespace!r} was recorded in the last {format_minutes(duration)}."
            )
        folder = self._make_path("metrics", namespace)
        files = []
        for name, where in {**chosen, **dict.fromkeys(NODES, ())}.items():
            lines = list(csv_lines(metric_table(store, name, period, where, CLUTTER)))
            if len(lines) > 1:
                self._write(f"{folder}/{file_name(name)}", lines)
                files.append(f"{file_name(name)} ({len(lines) - 1} rows)")
        title = f"The metrics of the last {format_minutes(duration)} are in {folder} on your host:"
        example = f'Read a file with read_metrics("{folder}/container_cpu_usage_seconds_total.csv").'
        return format_head([title, *files, example], f'All files: exec_shell("ls {folder}")')

    @action
    def read_metrics(self, file_path: str) -> str:
        """
        Shows a file exported by get_metrics. If it is too long, each series is summarized: number of samples, first,
        minimum, maximum and last value.

        Args:
            file_path (str): The path of the file.

        Returns:
            str: The rows, or the summary.
        """
        text = self._read(file_path, "get_metrics")
        return summarize_metrics(text, file_path)

"""``PrometheusAPI`` of the public AIOpsLab release: exports the current cloud's metrics to CSV files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aiopslab.observer import get_pod_list, get_services_list
from aiopslab.observer.periods import Moment, get_environment, make_period
from aiopslab.service import KubeCtl
from simcloud.telemetry.export import Period, metric_names, metric_table
from simcloud.telemetry.metrics import Matcher

normal_metrics: Final = [
    "container_cpu_usage_seconds_total", "container_cpu_user_seconds_total", "container_cpu_system_seconds_total",
    "container_cpu_cfs_throttled_seconds_total", "container_cpu_cfs_throttled_periods_total", "container_cpu_cfs_periods_total",
    "container_memory_cache", "container_memory_usage_bytes", "container_memory_working_set_bytes", "container_memory_rss",
    "container_spec_cpu_quota", "container_spec_memory_limit_bytes", "container_spec_cpu_shares", "container_threads",
    "container_network_receive_errors_total", "container_network_receive_packets_dropped_total",
    "container_network_receive_packets_total", "container_network_receive_bytes_total", "container_network_transmit_bytes_total",
    "container_network_transmit_errors_total", "container_network_transmit_packets_dropped_total",
    "container_network_transmit_packets_total",
]  # fmt: skip


class PrometheusAPI:
    """Metrics of one namespace."""

    def __init__(self, url: str, namespace: str) -> None:
        self.namespace = namespace
        self.pod_list, self.service_list = self.initialize_pod_and_service_lists(namespace)

    def initialize_pod_and_service_lists(
        self, custom_namespace: str | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the names of a namespace's pods and Services."""
        v1, namespace = KubeCtl().core_v1_api, custom_namespace or self.namespace
        return get_pod_list(v1, namespace), get_services_list(v1, namespace)

    def get_all_metrics(self) -> list[str]:
        """Return the names of the metrics that are exported, as far as the cloud has them."""
        environment = get_environment("PrometheusAPI")
        period = Period(0, environment.monitoring.now_ns() + 1)
        found = metric_names(environment.monitoring.store, period, self._where())
        return [name for name in normal_metrics if name in found]

    def query_range(
        self,
        metric_name: str,
        pod: str,
        start_time: Moment,
        end_time: Moment,
        namespace: str = "",
        step: int = 60,
    ) -> list[dict[str, Any]] | dict[str, str]:
        """Return the samples of a pod's metric, with ``time`` and ``value``, or a dictionary with ``error``."""
        rows = [
            row for row in self._iter_samples(metric_name, start_time, end_time) if row[1].endswith(f".{pod}")
        ]
        if not rows:
            return {"error": f"No data found for metric {metric_name} and pod {pod}"}
        return [{"time": datetime.fromtimestamp(row[0], UTC), "value": row[3]} for row in rows]

    def export_all_metrics(
        self, start_time: Moment, end_time: Moment, save_path: str | Path, step: int = 15
    ) -> str:
        """Write a file per metric, ``kpi_<metric>.csv``, with the columns timestamp, cmdb_id, kpi_name and value.

        The samples are those that the cloud has recorded, whatever the step. Returns a text with the folder and its files.
        """
        environment = get_environment("PrometheusAPI")
        moment = datetime.fromtimestamp(environment.cluster.api.now_s, UTC)
        folder = Path(save_path) / f"metric_{moment:%Y%m%d_%H%M%S}"
        (folder / "container").mkdir(parents=True, exist_ok=True)
        (folder / "istio").mkdir(exist_ok=True)
        files = []
        for metric in normal_metrics:
            rows = list(self._iter_samples(metric, start_time, end_time))
            if rows:
                path = folder / "container" / f"kpi_{metric}.csv"
                lines = ["timestamp,cmdb_id,kpi_name,value", *(",".join(map(str, row)) for row in rows)]
                path.write_text("\n".join(lines) + "\n")
                files.append(path.name)
        listing = "".join(f"        {name}\n" for name in files)
        return f"Metrics data exported to directory: {folder}\n\n{folder.name}/\n    container/\n{listing}    istio/\n"

    def cleanup(self) -> None:
        """Do nothing: no port was forwarded."""

    def _where(self) -> tuple[Matcher, ...]:
        return (Matcher("namespace", "=", self.namespace),)

    def _iter_samples(
        self, metric: str, start_time: Moment, end_time: Moment
    ) -> Iterator[tuple[int, str, str, float]]:
        """Yield time, instance and pod, name and value of each sample of a metric, in the order of time."""
        environment = get_environment("PrometheusAPI")
        period = make_period(environment, start_time, end_time)
        table = metric_table(environment.monitoring.store, metric, period, self._where())
        names = [column.name for column in table.columns]
        rows = []
        for row in table.rows():
            known: dict[str, Any] = dict(zip(names, row, strict=True))
            name = f"{metric}.{known['interface']}" if known.get("interface") else metric
            place = f"{known.get('instance', '')}.{known.get('pod', '')}"
            rows.append((known["timestamp"] // 1000, place, name, round(known["value"], 3)))
        yield from sorted(rows)

"""``LogAPI`` of the public AIOpsLab release: exports the current cloud's logs to a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aiopslab.observer import get_pod_list, get_services_list, monitor_config
from aiopslab.observer.periods import SECOND_NS, Moment, get_environment, make_period
from aiopslab.service import KubeCtl
from simcloud.telemetry.export import table_of_logs

COLUMNS: Final = (
    "log_id", "timestamp", "date", "pod_name", "container_name", "namespace", "node_name", "message",
)  # fmt: skip


class LogAPI:
    """Logs of all containers."""

    def __init__(self, url: str = "", username: str = "", password: str = "") -> None:
        self.log_pod_list, self.service_list = self.initialize_pod_and_service_lists()

    def initialize_pod_and_service_lists(
        self, custom_namespace: str | None = None
    ) -> tuple[list[str], list[str]]:
        """Return the names of a namespace's pods and Services."""
        v1, namespace = KubeCtl().core_v1_api, custom_namespace or monitor_config["namespace"]
        return get_pod_list(v1, namespace), get_services_list(v1, namespace)

    def query(self, start_time: Moment, end_time: Moment) -> list[dict[str, Any]]:
        """Return the lines of a period as dictionaries, with the columns of ``log_extract``."""
        return list(_iter_lines(start_time, end_time))

    def log_extract(self, start_time: Moment, end_time: Moment, path: str | Path) -> Path | None:
        """Write the lines of a period to a file ``log_<time>.csv`` in a folder; return its path, or None without lines."""
        lines = self.query(start_time, end_time)
        if not lines:
            return None
        Path(path).mkdir(parents=True, exist_ok=True)
        file_path = Path(path) / f"log_{round(lines[-1]['timestamp'])}.csv"
        with file_path.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(lines)
        return file_path


def _iter_lines(start_time: Moment, end_time: Moment) -> Iterator[dict[str, Any]]:
    environment = get_environment("LogAPI")
    table = table_of_logs(environment.monitoring.logs, make_period(environment, start_time, end_time))
    names = [column.name for column in table.columns]
    for number, row in enumerate(table.rows(), start=1):
        known: dict[str, Any] = dict(zip(names, row, strict=True))
        time_s = known["timestamp_ns"] / SECOND_NS
        moment = datetime.fromtimestamp(time_s, UTC).isoformat(timespec="milliseconds")
        place = (known["pod"], known["container"], known["namespace"], known["node_name"], known["message"])
        yield dict(zip(COLUMNS, (number, time_s, moment, *place), strict=True))

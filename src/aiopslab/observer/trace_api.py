"""``TraceAPI`` of the public AIOpsLab release: exports the current cloud's traces to a CSV file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

from aiopslab.observer.periods import Moment, get_environment, make_period
from aiopslab.utils import NotAvailable
from simcloud.telemetry.export import TRACE_COLUMNS, table_of_traces

ROOT: Final = "ROOT"


class TraceAPI:
    """Traces of one namespace's services."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def get_services(self) -> list[str]:
        """Return the names of the services that send traces."""
        rows = self._list_rows(0.0, 2e9)
        return sorted({row["service_name"] for row in rows})

    def get_traces(
        self, service_name: str, start_time: Moment, end_time: Moment, limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the traces of a period that contain a service, in Jaeger's form."""
        found = self.extract_traces(start_time, end_time)
        chosen = [
            trace for trace in found if any(span["serviceName"] == service_name for span in trace["spans"])
        ]
        return chosen[:limit]

    def extract_traces(
        self, start_time: Moment, end_time: Moment, limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Return all traces of a period, in Jaeger's form; each span also has ``serviceName``."""
        traces: dict[str, dict[str, Any]] = {}
        for row in self._list_rows(start_time, end_time):
            trace = traces.setdefault(
                row["trace_id"], {"traceID": row["trace_id"], "spans": [], "processes": {}}
            )
            service = row["service_name"]
            trace["processes"][service] = {"serviceName": service}
            trace["spans"].append(_make_span(row))
        return list(traces.values())[:limit]

    def process_traces(self, traces: list[dict[str, Any]]) -> Any:
        """Return the spans as a DataFrame; raises ``NotAvailable`` if pandas is not installed."""
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise NotAvailable("process_traces needs the package pandas: pip install pandas") from None
        rows = [_make_row(trace["traceID"], span) for trace in traces for span in trace["spans"]]
        return pandas.DataFrame(rows, columns=[column.name for column in TRACE_COLUMNS])

    def save_traces(self, df: Any, path: str | Path) -> str:
        """Write a DataFrame of ``process_traces`` to a CSV file in a folder; return a text with the file's path."""
        Path(path).mkdir(parents=True, exist_ok=True)
        moment = round(get_environment("TraceAPI").cluster.api.now_s)
        file_path = Path(path) / f"traces_{moment}.csv"
        df.to_csv(file_path, index=False)
        return f"Traces data exported to: {file_path}"

    def cleanup(self) -> None:
        """Do nothing: no port was forwarded."""

    def _list_rows(self, start_time: Moment, end_time: Moment) -> list[dict[str, Any]]:
        environment = get_environment("TraceAPI")
        if self.namespace != environment.namespace:
            return []
        period = make_period(environment, start_time, end_time)
        table = table_of_traces(environment.world.emitter.traces, period)
        names = [column.name for column in table.columns]
        return [dict(zip(names, row, strict=True)) for row in table.rows()]


def _make_span(row: dict[str, Any]) -> dict[str, Any]:
    parent = row["parent_span"]
    tags = [{"key": "error", "value": True}] if row["has_error"] else []
    if row["response"] != "Unknown":
        tags.append({"key": "http.status_code", "value": row["response"]})
    return {
        "traceID": row["trace_id"],
        "spanID": row["span_id"],
        "references": [] if parent == ROOT else [{"refType": "CHILD_OF", "spanID": parent}],
        "serviceName": row["service_name"],
        "processID": row["service_name"],
        "operationName": row["operation_name"],
        "startTime": row["start_time"],
        "duration": row["duration"],
        "tags": tags,
    }


def _make_row(trace_id: str, span: dict[str, Any]) -> tuple[Any, ...]:
    tags = {tag["key"]: tag["value"] for tag in span["tags"]}
    parents = [reference["spanID"] for reference in span["references"]]
    return (
        trace_id,
        span["spanID"],
        parents[0] if parents else ROOT,
        span["serviceName"],
        span["operationName"],
        span["startTime"],
        span["duration"],
        tags.get("error", False),
        tags.get("http.status_code", "Unknown"),
    )

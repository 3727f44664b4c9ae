"""Print the state of a cluster for people: tables of nodes, workloads, alerts and calls between services."""

from __future__ import annotations

from typing import Any, Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aiopslab.cli import output
from simcloud.telemetry import AGAIN, build_call_tree

Object = dict[str, Any]

BAR_WIDTH: Final = 6
"""A table with two bars fits into 80 columns."""
BUSY: Final = (0.7, 0.9)
FAILING: Final = (0.0, 0.05)
_SHORT: Final = {"Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds"}
_SEVERITY: Final = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


def draw(status: Object, console: Console | None = None) -> None:
    """Print the whole state."""
    console = console or output.open_console()
    console.print(f"[bold]{status['server']}[/]  Kubernetes {status['version']}\n", highlight=False)
    if status.get("task"):
        console.print(f"{status['task']}\n", markup=False)
    console.print(_build_node_table(status["nodes"]))
    if status["workloads"]:
        console.print(_build_workload_table(status["workloads"]))
    if status["telemetry"] is None:
        console.print("Alerts and calls are unknown: the cluster was started without telemetry.")
        return
    if status["alerts"]:
        console.print(_build_alert_table(status["alerts"]))
    else:
        console.print("[green]●[/] No alert is firing.\n")
    calls = status["calls"]
    if calls["services"]:
        console.print(build_call_table(calls))
    else:
        console.print(f"No calls to show: there were no traces in the last {_format_lookback(calls)}.")


def _build_table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(title=f"[bold]{title}[/]", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=True)
    return table


def _build_node_table(nodes: list[Object]) -> Table:
    table = _build_table("Nodes", "", "node", "roles", "version", "cpu", "memory")
    for node in nodes:
        colour, word = ("green", "") if node["ready"] else ("red", " not ready")
        word += "" if node["schedulable"] else " cordoned"
        shares = (_format_share(node.get(name)) for name in ("cpu_share", "memory_share"))
        table.add_row(
            f"[{colour}]●[/]",
            f"{escape(node['name'])}[{colour}]{word}[/]",
            ", ".join(node["roles"]) or "-",
            node["version"],
            *shares,
        )
    return table


def _format_share(share: float | None) -> str:
    """Format a share as a bar and a percentage."""
    if share is None:
        return "-"
    return f"{_draw_bar(share, _pick_colour(share, BUSY))} {share:4.0%}"


def _draw_bar(part: float, colour: str) -> str:
    filled = min(BAR_WIDTH, max(0, round(part * BAR_WIDTH)))
    return f"[{colour}]{'━' * filled}[/][dim]{'╌' * (BAR_WIDTH - filled)}[/]"


def _pick_colour(value: float, bounds: tuple[float, float]) -> str:
    return "green" if value <= bounds[0] else "yellow" if value <= bounds[1] else "red"


def _build_workload_table(workloads: list[Object]) -> Table:
    table = _build_table(
        "Workloads", "", "namespace", "workload", "kind", "ready", "restarts", right=("ready", "restarts")
    )
    previous = None
    for workload in workloads:
        missing = workload["desired"] - workload["ready"]
        colour = "green" if missing <= 0 else "red" if workload["ready"] == 0 else "yellow"
        namespace = workload["namespace"] if workload["namespace"] != previous else ""
        previous = workload["namespace"]
        restarts = f"[yellow]{workload['restarts']}[/]" if workload["restarts"] else "0"
        ready = f"[{colour}]{workload['ready']}/{workload['desired']}[/]"
        name, kind = escape(workload["name"]), _SHORT[workload["kind"]]
        table.add_row(f"[{colour}]●[/]", escape(namespace), name, kind, ready, restarts)
    return table


def _build_alert_table(alerts: list[Object]) -> Table:
    table = _build_table("Firing alerts", "severity", "alert", "since")
    table.add_column("description", overflow="fold")
    for alert in sorted(alerts, key=lambda alert: (alert["activeAt"], alert["labels"]["alertname"])):
        severity = alert["labels"].get("severity", "")
        style = _SEVERITY.get(severity, "")
        description = alert["annotations"].get("description") or alert["annotations"].get("summary", "")
        table.add_row(
            f"[{style}]{escape(severity)}[/]" if style else escape(severity),
            escape(alert["labels"]["alertname"]),
            alert["activeAt"][11:19],
            escape(description),
        )
    return table


def build_call_table(calls: Object) -> Table:
    """Build the table of a topology document: a tree of services from the front end down, with rates, errors and latency."""
    title = f"Calls between services (traces of the last {_format_lookback(calls)})"
    numbers = ("requests/s", "errors", "p50", "p99")
    table = _build_table(title, "", "service", "traffic", *numbers, right=numbers)
    lines = build_call_tree(calls["services"], calls["calls"])
    busiest = max(line.figures["rate"] for line in lines)
    for guide, service, figures, is_again in lines:
        colour = _pick_colour(figures["error_share"], FAILING)
        again = f"[dim]{AGAIN}[/]" if is_again else ""
        table.add_row(
            f"[{colour}]●[/]",
            f"[dim]{guide}[/]{escape(service)}{again}",
            _draw_bar(figures["rate"] / busiest, colour),
            f"{figures['rate']:.2f}",
            f"[{colour}]{figures['error_share']:.1%}[/]",
            _format_duration(figures["p50_s"]),
            _format_duration(figures["p99_s"]),
        )
    return table


def _format_duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _format_lookback(calls: Object) -> str:
    count = calls["lookback_s"] / 60
    return "minute" if count == 1 else f"{count:g} minutes"

"""A cluster's state for people: tables of nodes, workloads and alerts, and the map of who calls whom."""

from __future__ import annotations

from typing import Any, Final

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aiopslab.cli import output
from simcloud.telemetry.call_tree import AGAIN, call_tree

Object = dict[str, Any]

BAR_WIDTH: Final = 6
"""So that a table with two of them fits into 80 columns."""
BUSY: Final = (0.7, 0.9)
FAILING: Final = (0.0, 0.05)
_SHORT: Final = {"Deployment": "deploy", "StatefulSet": "sts", "DaemonSet": "ds"}
_SEVERITY: Final = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


def draw(status: Object, console: Console | None = None) -> None:
    """Print all of it."""
    console = console or output.console()
    console.print(f"[bold]{status['server']}[/]  Kubernetes {status['version']}\n", highlight=False)
    console.print(_nodes(status["nodes"]))
    if status["workloads"]:
        console.print(_workloads(status["workloads"]))
    if status["telemetry"] is None:
        console.print("Alerts and calls are not known: the cluster was started without telemetry.")
        return
    console.print(_alerts(status["alerts"]) if status["alerts"] else "[green]●[/] No alert is firing.\n")
    calls = status["calls"]
    if calls["services"]:
        console.print(call_map(calls))
    else:
        console.print(f"No map of calls: no service has sent a trace in the last {_minutes(calls)}.")


def _table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(title=f"[bold]{title}[/]", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", no_wrap=True)
    return table


def _nodes(nodes: list[Object]) -> Table:
    table = _table("Nodes", "", "node", "roles", "version", "cpu", "memory")
    for node in nodes:
        colour, word = ("green", "") if node["ready"] else ("red", " not ready")
        word += "" if node["schedulable"] else " cordoned"
        shares = (_share(node.get(name)) for name in ("cpu_share", "memory_share"))
        table.add_row(
            f"[{colour}]●[/]",
            f"{escape(node['name'])}[{colour}]{word}[/]",
            ", ".join(node["roles"]) or "-",
            node["version"],
            *shares,
        )
    return table


def _share(share: float | None) -> str:
    """A part of a whole, as a bar and a number."""
    if share is None:
        return "-"
    return f"{_bar(share, _level(share, BUSY))} {share:4.0%}"


def _bar(part: float, colour: str) -> str:
    filled = min(BAR_WIDTH, max(0, round(part * BAR_WIDTH)))
    return f"[{colour}]{'━' * filled}[/][dim]{'╌' * (BAR_WIDTH - filled)}[/]"


def _level(value: float, bounds: tuple[float, float]) -> str:
    return "green" if value <= bounds[0] else "yellow" if value <= bounds[1] else "red"


def _workloads(workloads: list[Object]) -> Table:
    table = _table(
        "Workloads", "", "namespace", "workload", "kind", "ready", "restarts", right=("ready", "restarts")
    )
    before = None
    for one in workloads:
        missing = one["desired"] - one["ready"]
        colour = "green" if missing <= 0 else "red" if one["ready"] == 0 else "yellow"
        namespace = one["namespace"] if one["namespace"] != before else ""
        before = one["namespace"]
        restarts = f"[yellow]{one['restarts']}[/]" if one["restarts"] else "0"
        ready = f"[{colour}]{one['ready']}/{one['desired']}[/]"
        name = escape(one["name"])
        table.add_row(f"[{colour}]●[/]", escape(namespace), name, _SHORT[one["kind"]], ready, restarts)
    return table


def _alerts(alerts: list[Object]) -> Table:
    table = _table("Alerts that are firing", "severity", "alert", "since")
    table.add_column("what is wrong", overflow="fold")
    for alert in sorted(alerts, key=lambda one: (one["activeAt"], one["labels"]["alertname"])):
        severity = alert["labels"].get("severity", "")
        style = _SEVERITY.get(severity, "")
        told = alert["annotations"].get("description") or alert["annotations"].get("summary", "")
        table.add_row(
            f"[{style}]{escape(severity)}[/]" if style else escape(severity),
            escape(alert["labels"]["alertname"]),
            alert["activeAt"][11:19],
            escape(told),
        )
    return table


def call_map(calls: Object) -> Table:
    """The services of a topology document, from the front doors down, and how they fare."""
    title = f"Who calls whom (traces of the last {_minutes(calls)})"
    numbers = ("requests/s", "errors", "p50", "p99")
    table = _table(title, "", "service", "traffic", *numbers, right=numbers)
    lines = call_tree(calls["services"], calls["calls"])
    busiest = max(line.figures["rate"] for line in lines)
    for guide, service, figures, is_again in lines:
        colour = _level(figures["error_share"], FAILING)
        again = f"[dim]{AGAIN}[/]" if is_again else ""
        table.add_row(
            f"[{colour}]●[/]",
            f"[dim]{guide}[/]{escape(service)}{again}",
            _bar(figures["rate"] / busiest, colour),
            f"{figures['rate']:.2f}",
            f"[{colour}]{figures['error_share']:.1%}[/]",
            _duration(figures["p50_s"]),
            _duration(figures["p99_s"]),
        )
    return table


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _minutes(calls: Object) -> str:
    count = calls["lookback_s"] / 60
    return "minute" if count == 1 else f"{count:g} minutes"

"""Output formats of releases: a few lines, a table, JSON or YAML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from simcloud.golang import format_json
from simcloud.helm.functions.dates import Moment, format_moment
from simcloud.helm.goyaml import write_yaml
from simcloud.helm.releases import Release
from simcloud.helm.session import Helm
from simcloud.helm.values import coalesce
from simcloud.kubernetes.api import times

ANSI = "Mon Jan _2 15:04:05 2006"


async def write_release(
    helm: Helm,
    release: Release,
    *,
    description: bool = False,
    hide_notes: bool = False,
    everything: bool = False,
    resources: str = "",
) -> None:
    """A release in the form that was asked for."""
    form = helm.flags["output"] if "output" in helm.flags.values else "table"
    if form != "table":
        document = release.as_json()
        if helm.command.path == "status":
            del document["chart"]
        await helm.out(format_value(form, document))
    else:
        debug = everything or bool(helm.flags["debug"])
        await helm.out(status_text(release, description, hide_notes, debug, everything, resources))


def status_text(
    release: Release, description: bool, hide_notes: bool, debug: bool, everything: bool, resources: str
) -> str:
    """What ``helm status`` prints."""
    parts = [f"NAME: {release.name}\n"]
    if release.last_deployed:
        parts.append(f"LAST DEPLOYED: {ansi(release.last_deployed)}\n")
    parts.append(f"NAMESPACE: {release.namespace}\nSTATUS: {release.status}\nREVISION: {release.version}\n")
    if everything:
        metadata = release.chart.metadata
        parts.append(
            f"CHART: {release.chart.name}\nVERSION: {release.chart.version}\nAPP_VERSION: {metadata.get('appVersion', '')}\n"
        )
    if description:
        parts.append(f"DESCRIPTION: {release.description}\n")
    if resources:
        parts.append(f"RESOURCES:\n{resources}\n")
    parts.append(_tests(release))
    if debug:
        values = coalesce(release.chart, release.config, lambda _: None)
        parts.append(f"USER-SUPPLIED VALUES:\n{write_yaml(release.config or None)}\n")
        parts.append(f"COMPUTED VALUES:\n{write_yaml(values)}\n")
    if debug or release.description.lower() == "dry run complete":
        parts.append("HOOKS:\n" + "".join(hook.manifest.format_document() for hook in release.hooks))
        parts.append(f"MANIFEST:\n{release.manifest}\n")
    if release.notes and not hide_notes:
        parts.append(f"NOTES:\n{release.notes.strip()}\n")
    return "".join(parts)


def _tests(release: Release) -> str:
    tests = [hook for hook in release.hooks if "test" in hook.events]
    if not tests:
        return "TEST SUITE: None\n"
    text = ""
    for hook in tests:
        run = hook.last_run
        if not run.get("started_at"):
            continue
        text += (
            f"TEST SUITE:     {hook.manifest.name}\nLast Started:   {ansi(run['started_at'])}\n"
            f"Last Completed: {ansi(run.get('completed_at', ''))}\nPhase:          {run.get('phase', '')}\n"
        )
    return text


def ansi(time: str) -> str:
    """A time in the form of C."""
    return format_moment(moment(time), ANSI) if time else "Mon Jan  1 00:00:00 0001"


def moment(time: str) -> Moment:
    """A time that a release holds; any zone."""
    found = re.match(r"(.*?)(\.\d+)?(?:([+-])(\d\d):(\d\d)|Z)?\Z", time)
    assert found is not None
    try:
        seconds = times.parse(f"{found[1]}Z") + float(found[2] or 0)
    except ValueError:
        return Moment(0.0)
    if found[3]:
        shift = (int(found[4]) * 60 + int(found[5])) * 60
        seconds += shift if found[3] == "-" else -shift
    return Moment(seconds)


def long_time(time: str) -> str:
    """A time as Go prints one."""
    return moment(time).go_text() if time else ""


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Rows under a head, columns as wide as their widest cell."""
    lines = [head, *rows] if head else list(rows)
    if not lines:
        return ""
    widths = [
        max(len(part) for line in lines for part in line[column].split("\n"))
        for column in range(len(lines[0]))
    ]
    return "".join("\t".join(map(_resize, line, widths)) + "\n" for line in lines)


def _resize(cell: str, width: int) -> str:
    """Cut or pad a cell; its lines are cut as one text, but each is padded."""
    if len(cell) > width:
        return f"{cell[: width - 3]}..." if width > 3 else cell[:width]
    return "\n".join(part.ljust(width) for part in cell.split("\n"))


def format_value(form: str, value: Any) -> str:
    """Format a value as JSON on one line, or as YAML."""
    return format_json(value, keep_order=True) + "\n" if form == "json" else write_yaml(value)

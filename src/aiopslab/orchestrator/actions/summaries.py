"""Exported files as observations: unchanged when short, otherwise summarized.

The agent may have changed a file: the beginning of one that does not look like an export is shown instead.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import islice
from typing import Final

from aiopslab.orchestrator.actions.observations import SHOWN_BYTES, SHOWN_LINES, align_rows, format_head
from simcloud.telemetry.export import TRACE_COLUMNS

MAX_ROWS: Final = 100_000
SHOWN_SPANS: Final = 15
_TRACE_NAMES: Final = [column.name for column in TRACE_COLUMNS]


def _is_short(text: str) -> bool:
    return len(text) <= SHOWN_BYTES and text.count("\n") <= SHOWN_LINES


def _make_hint(path: str) -> str:
    return f'See rows with exec_shell("grep NAME {path} | tail -n 40").'


def summarize_metrics(text: str, path: str) -> str:
    """Return a metric's file, or one line per series if it is long."""
    if _is_short(text):
        return text.rstrip("\n") or "(the file is empty)"
    rows = _parse_rows(text)
    names = rows[0] if rows else []
    if names[:1] != ["timestamp"] or names[-1:] != ["value"]:
        return format_head(text.splitlines(), _make_hint(path))
    series: dict[tuple[str, ...], list[float]] = {}
    for row in rows[1:]:
        if len(row) == len(names):
            series.setdefault(tuple(row[1:-1]), []).append(_parse_number(row[-1]))
    table = [[*names[1:-1], "samples", "first", "min", "max", "last"]]
    for labels, values in series.items():
        figures = values[0], min(values), max(values), values[-1]
        table.append([*labels, str(len(values)), *(f"{value:.6g}" for value in figures)])
    title = f"{len(rows) - 1} rows are too many to show; summary of the {len(series)} series:"
    return format_head([title, *align_rows(table)], _make_hint(path)) + f"\n{_make_hint(path)}"


def summarize_traces(text: str, path: str) -> str:
    """Return a file of spans, or if it is long one line per operation, then failed and slow spans."""
    if _is_short(text):
        return text.rstrip("\n") or "(the file is empty)"
    rows = _parse_rows(text)
    if rows[:1] != [_TRACE_NAMES]:
        return format_head(text.splitlines(), _make_hint(path))
    spans = [row for row in rows[1:] if len(row) == len(_TRACE_NAMES) and row[6].isdecimal()]
    failed = [span for span in spans if span[7] == "True"]
    roots = [span for span in spans if span[2] == "ROOT"]
    slowest = sorted(roots, key=lambda span: -int(span[6]))[:SHOWN_SPANS]
    out = [
        f"{len(spans)} spans of {len(roots)} requests are too many to show; summary by service and operation:",
        *_summarize_operations(spans),
        f"Failed spans: {len(failed)}"
        + (f"; the newest {min(SHOWN_SPANS, len(failed))}:" if failed else "."),
        *(",".join(span) for span in failed[-SHOWN_SPANS:]),
        "The slowest requests:",
        *(",".join(span) for span in slowest),
        f'All spans of one request: exec_shell("grep TRACE_ID {path}"). {_make_hint(path)}',
    ]
    return format_head(out, _make_hint(path))


def _summarize_operations(spans: list[list[str]]) -> list[str]:
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for span in spans:
        groups.setdefault((span[3], span[4]), []).append(span)
    table = [["service_name", "operation_name", "spans", "errors", "p50_ms", "p99_ms", "max_ms"]]
    for (service, operation), group in sorted(groups.items()):
        durations = sorted(int(span[6]) / 1000 for span in group)
        errors = sum(span[7] == "True" for span in group)
        figures = _get_quantile(durations, 0.5), _get_quantile(durations, 0.99), durations[-1]
        table.append(
            [service, operation, str(len(group)), str(errors), *(f"{figure:.2f}" for figure in figures)]
        )
    return align_rows(table)


def _get_quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def _parse_rows(text: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(text.splitlines()), MAX_ROWS))
    except csv.Error:
        return []


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

"""Exported files for a reader: as they are when short, else what they say in sum.

A file is whatever the agent made of it in the meantime: one that does not look like an export is shown from its beginning.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import islice
from typing import Final

from aiopslab.orchestrator.actions.bounds import SHOWN_BYTES, SHOWN_LINES, head
from aiopslab.orchestrator.actions.tables import aligned
from simcloud.telemetry.export.tables import TRACE_COLUMNS

MOST_ROWS: Final = 100_000
SHOWN_SPANS: Final = 15
_TRACE_NAMES: Final = [column.name for column in TRACE_COLUMNS]


def _fits(text: str) -> bool:
    return len(text) <= SHOWN_BYTES and text.count("\n") <= SHOWN_LINES


def _more(path: str) -> str:
    return f'See rows with exec_shell("grep NAME {path} | tail -n 40").'


def metric_summary(text: str, path: str) -> str:
    """A metric's file; of a long one each series in a line."""
    if _fits(text):
        return text.rstrip("\n") or "(the file is empty)"
    rows = _rows(text)
    names = rows[0] if rows else []
    if names[:1] != ["timestamp"] or names[-1:] != ["value"]:
        return head(text.splitlines(), _more(path))
    series: dict[tuple[str, ...], list[float]] = {}
    for row in rows[1:]:
        if len(row) == len(names):
            series.setdefault(tuple(row[1:-1]), []).append(_number(row[-1]))
    table = [[*names[1:-1], "samples", "first", "min", "max", "last"]]
    for labels, values in series.items():
        figures = values[0], min(values), max(values), values[-1]
        table.append([*labels, str(len(values)), *(f"{value:.6g}" for value in figures)])
    title = f"{len(rows) - 1} rows are too many to show; here is each of the {len(series)} series in sum."
    return head([title, *aligned(table)], _more(path)) + f"\n{_more(path)}"


def trace_summary(text: str, path: str) -> str:
    """A file of spans; of a long one each service and operation in a line, then failures and slow ones."""
    if _fits(text):
        return text.rstrip("\n") or "(the file is empty)"
    rows = _rows(text)
    if rows[:1] != [_TRACE_NAMES]:
        return head(text.splitlines(), _more(path))
    spans = [row for row in rows[1:] if len(row) == len(_TRACE_NAMES) and row[6].isdecimal()]
    failed = [span for span in spans if span[7] == "True"]
    roots = [span for span in spans if span[2] == "ROOT"]
    slowest = sorted(roots, key=lambda span: -int(span[6]))[:SHOWN_SPANS]
    out = [
        f"{len(spans)} spans of {len(roots)} requests are too many to show; here is each service and operation in sum.",
        *_operations(spans),
        f"Spans that failed: {len(failed)}"
        + (f"; the newest {min(SHOWN_SPANS, len(failed))}:" if failed else "."),
        *(",".join(span) for span in failed[-SHOWN_SPANS:]),
        "The slowest requests:",
        *(",".join(span) for span in slowest),
        f'All spans of one request: exec_shell("grep TRACE_ID {path}"). {_more(path)}',
    ]
    return head(out, _more(path))


def _operations(spans: list[list[str]]) -> list[str]:
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for span in spans:
        groups.setdefault((span[3], span[4]), []).append(span)
    table = [["service_name", "operation_name", "spans", "errors", "p50_ms", "p99_ms", "max_ms"]]
    for (service, operation), group in sorted(groups.items()):
        durations = sorted(int(span[6]) / 1000 for span in group)
        errors = sum(span[7] == "True" for span in group)
        figures = _quantile(durations, 0.5), _quantile(durations, 0.99), durations[-1]
        table.append([service, operation, str(len(group)), str(errors), *(f"{one:.2f}" for one in figures)])
    return aligned(table)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def _rows(text: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(text.splitlines()), MOST_ROWS))
    except csv.Error:
        return []


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan

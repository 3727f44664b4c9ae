"""The options, budgets and output that all benchmarks share.

A benchmark is a function ``measure(short) -> Report``; ``run`` does the rest. The short form executes everything at
the smallest sizes, so that a test can show that a benchmark still works; its figures mean nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from rich.console import Console
from rich.table import Table

WIDTH = 130
ATTEMPTS = 3
"""Other work on a machine adds to a time and never takes away, so the best of a few attempts is the nearest to the truth."""


@dataclass(frozen=True)
class Budget:
    """The smallest and the largest value that a figure may have."""

    most: float = inf
    least: float = -inf

    def __str__(self) -> str:
        if self.least == -inf:
            return f"at most {self.most:g}"
        return f"at least {self.least:g}"

    def find_missed(self, name: str, value: float) -> dict[str, str]:
        """Return what was measured, by the figure's name, if it is out of this budget."""
        return {} if self.least <= value <= self.most else {name: f"{value:,.4g}, budget {self}"}


@dataclass(frozen=True)
class Report:
    """The result of a benchmark: figures for programs, tables for people, and the budgets that were missed."""

    figures: Mapping[str, Any]
    tables: Sequence[Table | str]
    missed: Mapping[str, str] = field(default_factory=dict)
    """What was measured instead, by the figure's name."""


def run(doc: str | None, measure: Callable[[bool], Report]) -> int:
    """Measure, print, and return the exit code: 1 when a budget was missed in every attempt, but never in the short form."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument(
        "--json", action="store_true", help="print the figures as JSON, and the tables to standard error"
    )
    parser.add_argument(
        "--short", action="store_true", help="run everything at the smallest sizes; no budget is judged"
    )
    options = parser.parse_args()
    console = Console(stderr=options.json, width=WIDTH, highlight=False)
    missed: dict[str, str] | None = None
    for attempt in range(1, ATTEMPTS + 1):
        report = measure(options.short)
        for table in report.tables:
            console.print(table)
        missed = {
            name: value
            for name, value in report.missed.items()
            if not options.short and (missed is None or name in missed)
        }
        for name, value in missed.items():
            console.print(f"over budget: {name}: {value}", markup=False)
        if not missed:
            break
        if attempt < ATTEMPTS:
            console.print("Measuring again, because other work on this machine may have taken the time ...")
    if options.json:
        print(json.dumps({**report.figures, "missed": missed, "ok": not missed}, indent=1))
    return 1 if missed else 0


def find_missed(figures: Mapping[str, float], budgets: Mapping[str, Budget]) -> dict[str, str]:
    """Return what was measured for each figure that is out of its budget."""
    missed: dict[str, str] = {}
    for name, budget in budgets.items():
        missed |= budget.find_missed(name, figures[name])
    return missed


def tabulate_figures(
    title: str, columns: Mapping[str, Mapping[str, Any]], budgets: Mapping[str, Budget] | None = None
) -> Table:
    """Return a table with a row for each figure and a column for each measurement, named by the keys."""
    headings = ["figure", *columns, *(["budget"] if budgets else [])]
    table = Table(title=title)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in columns else "left")
    for name in next(iter(columns.values())):
        row = [format_value(figures[name]) for figures in columns.values()]
        table.add_row(name, *row, *([str((budgets or {}).get(name, ""))] if budgets else []))
    return table


def tabulate_rows(title: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    """Return a table with a column for each figure and a row for each measurement."""
    rows = list(rows)
    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*map(format_value, row.values()))
    return table


def format_value(value: Any) -> str:
    """Return a number with three significant digits, and anything else as it is."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)

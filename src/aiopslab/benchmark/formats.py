"""Tables as text, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Final

from aiopslab.benchmark.tables import Amount, Cell, Share, Table

NOTHING: Final = "–"
_LATEX: Final = str.maketrans(
    {
        "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "–": "--",
    }
)  # fmt: skip


def format_cell(cell: Cell) -> str:
    """Format a cell for people."""
    if isinstance(cell, Share):
        if cell.value is None:
            return NOTHING
        low, high = cell.interval.low, cell.interval.high
        return f"{cell.value:.0%} [{low * 100:.0f}, {high * 100:.0f}]"
    if isinstance(cell, Amount):
        return _format_amount(cell)
    return f"{cell:,}" if isinstance(cell, int) else cell


def _format_amount(amount: Amount) -> str:
    if amount.value is None:
        return NOTHING
    if amount.unit == "%":
        return f"{amount.value * 100:.{amount.digits}f}%"
    if amount.unit == "points":
        text = f"{amount.value * 100:+.{amount.digits}f}"
        if amount.interval is not None:
            text += f" [{amount.interval.low * 100:+.0f}, {amount.interval.high * 100:+.0f}]"
        return text
    if amount.unit == "$":
        return f"${amount.value:,.{amount.digits}f}"
    return f"{amount.value:,.{amount.digits}f}{' ' + amount.unit if amount.unit else ''}"


def is_number(cell: Cell) -> bool:
    """Whether a cell is aligned to the right."""
    return not isinstance(cell, str)


def format_text(tables: Sequence[Table]) -> str:
    """Format tables for a terminal or a text file, in plain columns."""
    return "\n\n".join(_format_plain(table) for table in tables) + "\n"


def _format_plain(table: Table) -> str:
    lines = [list(table.header), *([format_cell(cell) for cell in row] for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [all(is_number(row[place]) for row in table.rows) for place in range(len(widths))]
    aligned = [
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join((table.title, "", aligned[0], "-" * len(max(aligned, key=len)), *aligned[1:]))


def format_markdown(tables: Sequence[Table]) -> str:
    """Format tables as Markdown, with their notes."""
    parts = []
    for table in tables:
        rows = [[_escape_markdown(format_cell(cell)) for cell in row] for row in table.rows]
        numeric = [all(is_number(row[place]) for row in table.rows) for place in range(len(table.header))]
        lines = [
            f"## {table.title}",
            "",
            _join_markdown([_escape_markdown(name) for name in table.header]),
            _join_markdown(["---:" if right else "---" for right in numeric]),
            *map(_join_markdown, rows),
        ]
        parts.append("\n".join([*lines, *(("", table.note) if table.note else ())]))
    return "\n\n".join(parts) + "\n"


def _join_markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_markdown(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def format_csv(tables: Sequence[Table]) -> str:
    """Format all numbers of tables as one CSV file with a row per number; shares and differences with their interval."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("table", "row", "column", "value", "low", "high", "count", "total"))
    for table in tables:
        for row in table.rows:
            label = " / ".join(format_cell(cell) for cell in row[: table.labels])
            for name, cell in zip(table.header[table.labels :], row[table.labels :], strict=True):
                writer.writerow((table.name, label, name, *_list_values(cell)))
    return out.getvalue()


def _list_values(cell: Cell) -> Sequence[object]:
    if isinstance(cell, Share):
        if cell.value is None:
            return "", "", "", cell.count, cell.total
        low, high = cell.interval.low, cell.interval.high
        return round(cell.value, 6), round(low, 6), round(high, 6), cell.count, cell.total
    if isinstance(cell, Amount):
        value = "" if cell.value is None else round(cell.value, 6)
        if cell.interval is None:
            return value, "", "", "", ""
        return value, round(cell.interval.low, 6), round(cell.interval.high, 6), "", ""
    return cell, "", "", "", ""


def format_latex(tables: Sequence[Table]) -> str:
    """Format tables as LaTeX, for the package booktabs."""
    parts = []
    for table in tables:
        numeric = [all(is_number(row[place]) for row in table.rows) for place in range(len(table.header))]
        columns = "".join("r" if right else "l" for right in numeric)
        rows = [
            " & ".join(format_cell(cell).translate(_LATEX) for cell in row) + r" \\" for row in table.rows
        ]
        caption = f"{table.title}. {table.note}".strip() if table.note else f"{table.title}."
        parts.append(
            "\n".join(
                (
                    r"\begin{table}",
                    rf"\caption{{{caption.translate(_LATEX)}}}",
                    rf"\label{{tab:{table.name}}}",
                    r"\centering",
                    rf"\begin{{tabular}}{{{columns}}}",
                    r"\toprule",
                    " & ".join(name.translate(_LATEX) for name in table.header) + r" \\",
                    r"\midrule",
                    *rows,
                    r"\bottomrule",
                    r"\end{tabular}",
                    r"\end{table}",
                )
            )
        )
    return "% Requires \\usepackage{booktabs}\n" + "\n\n".join(parts) + "\n"


FORMATS: Final[dict[str, Callable[[Sequence[Table]], str]]] = {
    "table": format_text,
    "markdown": format_markdown,
    "csv": format_csv,
    "latex": format_latex,
}
"""Formats of tables by the value of ``--format``; ``html`` is a page of its own (``page``)."""

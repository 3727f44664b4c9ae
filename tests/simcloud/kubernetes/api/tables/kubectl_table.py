"""How kubectl prints a Table, so that tables can be compared with recorded terminals."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]


def printed(
    table: Table,
    *,
    wide: bool = False,
    namespace: bool = False,
    labels: bool = False,
    prefix: str = "",
    header: bool = True,
) -> str:
    """The text of ``kubectl get``."""
    columns = table["columnDefinitions"]
    shown = [index for index, column in enumerate(columns) if wide or not column["priority"]]
    lines: list[list[str]] = []
    if header:
        titles = [columns[index]["name"].upper() for index in shown]
        lines.append([*(["NAMESPACE"] if namespace else []), *titles, *(["LABELS"] if labels else [])])
    for row in table["rows"]:
        metadata = row["object"]["metadata"]
        cells = [_text(row["cells"][index]) for index in shown]
        if prefix:
            cells[0] = f"{prefix}/{cells[0]}"
        pairs = ",".join(f"{key}={value}" for key, value in sorted(metadata.get("labels", {}).items()))
        lines.append(
            [
                *([metadata["namespace"]] if namespace else []),
                *cells,
                *([pairs or "<none>"] if labels else []),
            ]
        )
    return _aligned(lines)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(cell)


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(6, *(len(line[at]) + 3 for line in lines)) for at in range(len(lines[0]) - 1)]
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)) + line[-1] + "\n"
        for line in lines
    )

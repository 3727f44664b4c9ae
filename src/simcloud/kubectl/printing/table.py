"""A server's Table as kubectl prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from simcloud.golang import TabWriter, sprint
from simcloud.kubectl.errors import PrintError
from simcloud.kubectl.printing.sorting import Unsortable, sort_objects, sort_rows
from simcloud.kubernetes.api import Object

_EVENTS = {"ADDED": "ADDED   ", "MODIFIED": "MODIFIED", "DELETED": "DELETED ", "ERROR": "ERROR   "}


class Look(Struct, frozen=True):
    """The flags that bear on a table."""

    wide: bool = False
    headers: bool = True
    labels: bool = False
    """``--show-labels``."""
    label_columns: tuple[str, ...] = ()
    """``-L``."""
    kinds: bool = False
    """``--show-kind``, or several kinds in one command."""
    namespaces: bool = False
    """All namespaces are listed."""
    sort_by: str = ""


class Tabled(Struct, frozen=True):
    """A Table and the resource it is of."""

    table: Object
    resource: str
    """What tells kinds apart: ``pods``, ``deployments.apps``."""
    kind: str
    """What stands before a name: ``pod``, ``deployment.apps``."""
    namespaced: bool = True


@dataclass
class TablePrinter:
    """Prints the tables of one command, or the events of one watch, one after another.

    Tables of one resource share their headers and columns; another resource begins anew after a blank line.
    """

    look: Look = field(default_factory=Look)
    _writer: TabWriter = field(default_factory=TabWriter, init=False)
    _resource: str = field(default="", init=False)
    _definitions: list[Object] | None = field(default=None, init=False)
    _headed: bool = field(default=False, init=False)
    _anything: bool = field(default=False, init=False)
    _apart: bool = field(default=False, init=False)
    _placed: bool = field(default=False, init=False)
    """Namespaces have been shown; from then on they are, even of kinds that have none."""

    def print(self, tables: Sequence[Tabled]) -> str:
        """The tables of a command. Empty if they have no rows: then kubectl says that nothing was found."""
        printed = []
        if self.look.sort_by and len(tables) > 1:
            tables = sort_tables(tables, self.look.sort_by)
        for tabled in tables:
            if tabled.resource != self._resource:
                printed.append(self._flush())
                self._begin(tabled.resource)
            try:
                self._add(tabled)
            except Unsortable:
                raise
            except PrintError:
                continue  # kubectl does not look whether a table was printed
        printed.append(self._flush())
        return "".join(printed)

    def event(self, tabled: Tabled, kind: str = "") -> str:
        """The rows of a watch's event; ``kind`` (``ADDED`` …) is shown where it is asked for."""
        self._add(tabled, _EVENTS.get(kind, kind))
        return self._flush()

    def _begin(self, resource: str) -> None:
        self._writer.forget()
        self._apart = bool(self._resource) and self.look.headers and self._anything
        self._resource, self._definitions, self._headed = resource, None, False

    def _flush(self) -> str:
        text = self._writer.flush()
        if not text:
            return ""
        between = "\n" if self._apart else ""
        self._apart, self._anything = False, True
        return between + text

    def _add(self, tabled: Tabled, event: str = "") -> None:
        self._placed = self._placed or (self.look.namespaces and tabled.namespaced)
        definitions = tabled.table.get("columnDefinitions") or self._definitions or []
        headers = self.look.headers and not (self._headed and definitions == self._definitions)
        if definitions != self._definitions:
            self._definitions, self._headed = definitions, False
        rows = tabled.table.get("rows") or []
        if self.look.sort_by and len(rows) > 1:
            rows = sort_rows(rows, self.look.sort_by)
        if not rows:
            return
        self._headed = True
        if headers:
            self._line(self._headers(definitions, bool(event)))
        for row in rows:
            self._line(self._cells(definitions, row, tabled, event))

    def _line(self, cells: list[str]) -> None:
        self._writer.write("\t".join(cells) + "\n")

    def _headers(self, definitions: list[Object], event: bool) -> list[str]:
        look = self.look
        cells = ["EVENT"] if event else []
        if self._placed:
            cells.append("NAMESPACE")
        cells += [str(definition["name"]).upper() for definition in definitions if self._is_shown(definition)]
        cells += [label.rpartition("/")[2].upper() for label in look.label_columns]
        return [*cells, "LABELS"] if look.labels else cells

    def _cells(self, definitions: list[Object], row: Object, tabled: Tabled, event: str) -> list[str]:
        look = self.look
        metadata = (row.get("object") or {}).get("metadata") or {}
        labels = metadata.get("labels") or {}
        cells = [event] if event else []
        if self._placed:
            cells.append(metadata.get("namespace", ""))
        named = not look.kinds
        for definition, cell in zip(definitions, row["cells"], strict=False):
            if not named and definition.get("format") == "name" and definition.get("type") == "string":
                cell, named = f"{tabled.kind}/{cell}", True
            if self._is_shown(definition):
                cells.append(_text(cell))
        cells += [labels.get(label, "") for label in look.label_columns]
        return [*cells, labels_text(labels)] if look.labels else cells

    def _is_shown(self, definition: Object) -> bool:
        return self.look.wide or not definition.get("priority")


def sort_tables(tables: Sequence[Tabled], by: str) -> Sequence[Tabled]:
    """Several tables in order. kubectl sorts the tables themselves, of which most paths find nothing."""
    order = sort_objects([tabled.table for tabled in tables], by)
    return [next(tabled for tabled in tables if tabled.table is table) for table in order]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    text = cell if isinstance(cell, str) else sprint(cell)
    if text.isprintable():
        return text
    cut = min((place for char in "\f\n\r" if (place := text.find(char)) >= 0), default=-1)
    return escape_controls(text) if cut < 0 else escape_controls(text[:cut]) + "..."


def labels_text(labels: dict[str, str]) -> str:
    """Labels as the LABELS column has them."""
    return ",".join(sorted(f"{key}={value}" for key, value in labels.items())) or "<none>"


def escape_controls(text: str) -> str:
    """Escape the control characters that a terminal would interpret."""
    return text.replace("\x1b", "^[").replace("\r", "\\r")

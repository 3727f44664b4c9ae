"""``-o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image`` and the same from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from simcloud.golang import TabWriter, sprint
from simcloud.kubectl.errors import Crash, PrintError
from simcloud.kubectl.jsonpath import JsonPath, JsonPathError
from simcloud.kubectl.jsonpath.nodes import Panic
from simcloud.kubectl.jsonpath.parser import complete_path
from simcloud.kubectl.printing.lists import items_of
from simcloud.kubectl.printing.table import escape_controls
from simcloud.kubernetes.api import Object

_FORM = "Expected format is one line of space separated headers, one line of space separated column specs."


class Column(Struct, frozen=True):
    """A header and the path of what stands under it."""

    header: str
    path: str


def columns_of_spec(spec: str) -> list[Column]:
    """The columns of ``HEADER:path,…``. PrintError or JsonPathError if it is not of that form."""
    columns = []
    for part in spec.split(","):
        header, colon, path = part.partition(":")
        if not colon:
            raise PrintError(f"unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>")
        columns.append(Column(header, complete_path(path)))
    return columns


def columns_of_file(text: str) -> list[Column]:
    """The columns of a file: a line of headers, a line of paths."""
    lines = text.splitlines()
    if not lines:
        raise PrintError(f"invalid template, missing header line. {_FORM}")
    if len(lines) < 2:
        raise PrintError(f"invalid template, missing spec line. {_FORM}")
    headers, paths = lines[0].split(), lines[1].split()
    if len(headers) != len(paths):
        raise PrintError(
            f"number of headers ({len(headers)}) and field specifications ({len(paths)}) don't match"
        )
    return [Column(header, complete_path(path)) for header, path in zip(headers, paths, strict=True)]


@dataclass
class CustomColumns:
    """Prints objects as rows; the headers come once."""

    columns: list[Column]
    headers: bool = True
    _writer: TabWriter = field(default_factory=TabWriter, init=False)

    def print(self, *objects: Object) -> str:
        """The rows of some objects, and of lists."""
        try:
            for obj in objects:
                self._add(obj)
        except Panic as error:
            raise Crash(f"panic: {error}") from None
        except JsonPathError as error:
            raise PrintError(str(error), self._writer.flush()) from None
        return self._writer.flush()

    def _add(self, obj: Object) -> None:
        if self.headers:
            self._writer.write("\t".join(column.header for column in self.columns) + "\n")
            self.headers = False
        paths = [JsonPath(column.path) for column in self.columns]
        for item in items_of(obj):
            self._writer.write("\t".join(_cell(path.find(item)) for path in paths) + "\n")


def _cell(found: list[list[Any]]) -> str:
    values = [escape_controls(sprint(value)) for part in found for value in part]
    if not found or not found[0]:
        values.insert(0, "<none>")
    return ",".join(values)

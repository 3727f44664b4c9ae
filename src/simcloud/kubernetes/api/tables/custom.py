"""Custom resources: the columns that their definition declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from simcloud.kubernetes.api import times
from simcloud.kubernetes.api.objects import Object
from simcloud.kubernetes.api.tables.cells import Cells, count, items, name, part, text
from simcloud.kubernetes.api.tables.jsonpath import Path, find, parse_path
from simcloud.kubernetes.api.tables.registry import AGE, NAME, Column, Kind

if TYPE_CHECKING:
    from simcloud.kubernetes.api.resources import Resource

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def custom_kind(resource: Resource) -> Kind:
    """How objects of a custom resource are shown in its version: a name, and the declared columns or an age."""
    declared = _find_columns(resource)
    columns: list[Column] = [NAME]
    paths: list[tuple[str, Path]] = []
    for declaration in declared or [_AGE]:
        path = parse_path(text(declaration, "jsonPath"))
        if path is None:
            break
        columns.append(_column(declaration))
        paths.append((text(declaration, "type"), path))

    def row(obj: Object, now_s: float) -> Cells:
        return [name(obj), *(_cell(kind, find(obj, path), now_s) for kind, path in paths)]

    return Kind(columns, row)


def _find_columns(resource: Resource) -> list[Object]:
    for version in items(part(resource.custom, "spec"), "versions"):
        if version.get("name") == resource.version:
            return items(version, "additionalPrinterColumns")
    return []


def _column(declaration: Object) -> Column:
    path = text(declaration, "jsonPath")
    if declaration is _AGE:
        return Column("Age", of=AGE.of, type="date")
    said = declaration.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
    return Column(
        text(declaration, "name"),
        said,
        type=text(declaration, "type"),
        format=text(declaration, "format"),
        priority=count(declaration, "priority"),
    )


def _cell(kind: str, found: list[Any], now_s: float) -> Any:
    """The first value that was found, if it is of the column's type."""
    value = found[0] if found else None
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "string":
            return _text(value)
        case "integer" if number:
            return _whole(value)
        case "number" if number:
            return _plain(value)
        case "boolean" if isinstance(value, bool):
            return value
        case "date" if isinstance(value, str):
            return _ago(value, now_s)
    return None


def _whole(value: float) -> int | None:
    try:
        return int(value)
    except (OverflowError, ValueError):
        return None


def _plain(value: float) -> float:
    """A number as Go writes it: whole ones without a fraction."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e21 else value


def _text(value: Any) -> str:
    """A value as text: objects and lists as Go's JSON, which is careful of HTML."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(_plain(value))
    encoded = msgspec.json.encode(value, order="sorted").decode()
    return encoded.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _ago(text: str, now_s: float) -> str:
    if not text:
        return "<unknown>"
    try:
        return times.human_duration(now_s - times.parse(text))
    except ValueError:
        return "<invalid>"

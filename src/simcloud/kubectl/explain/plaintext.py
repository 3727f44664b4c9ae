"""The default output of ``explain``, made from the server's OpenAPI v3 documents."""

from __future__ import annotations

import re
from typing import Any, Final

from simcloud.kubectl.explain.documents import Document, map_value_schema, reference
from simcloud.kubernetes.api import Object

TEXT_WIDTH: Final = 76
FIELD_WIDTH: Final = 78
MOST_VALUES: Final = 4
"""Maximum number of enumeration values in a list of fields."""

_PIECES: Final = re.compile(r"\n|[^\S\n\u00a0]+|(?:[^\s]|\u00a0)+")


class Plaintext:
    """Explains the fields of one document."""

    def __init__(self, document: Document, recursive: bool) -> None:
        self._document = document
        self._recursive = recursive

    def explain(self, schema: Object, path: list[str], seen: tuple[str, ...] = ()) -> str:
        """What a path leads to from a schema; empty if it leads nowhere."""
        name = reference(schema)
        resolved = self._document.resolve(schema)
        if not path:
            return self._whole(resolved)
        if name and name in seen:
            return ""
        seen = (*seen, name) if name else seen
        field = (resolved.get("properties") or {}).get(path[0])
        if field is not None:
            head = (
                f"FIELD: {path[0]} <{self.type_of(field)}>\n{_values_below(field)}\n\n"
                if path[1:] == []
                else ""
            )
            return head + self.explain(field, path[1:])
        inner = resolved.get("items") or map_value_schema(resolved)
        if inner:
            return self.explain(inner, path, seen)
        return next(
            filter(None, (self.explain(part, path, seen) for part in resolved.get("allOf") or ())), ""
        )

    def _whole(self, schema: Object) -> str:
        described = self._description(schema) or "<empty>"
        text = f"DESCRIPTION:\n{_indent(fold(described, TEXT_WIDTH), 4)}\n"
        fields = self._fields(schema, 1, ())
        return text + (f"FIELDS:\n{fields}" if fields else "")

    def _description(self, schema: Object) -> str:
        """A schema's own words and those of what it holds."""
        resolved = self._document.resolve(schema)
        text = f"{resolved['description']}\n" if resolved.get("description") else ""
        parts = [*(resolved.get("allOf") or ()), resolved.get("items"), map_value_schema(resolved)]
        return text + "".join(self._description(part) for part in parts if part)

    def _fields(self, schema: Object, level: int, seen: tuple[str, ...]) -> str:
        name = reference(schema)
        if name and name in seen:
            return ""
        seen = (*seen, name) if name else seen
        resolved = self._document.resolve(schema)
        lines = []
        properties = resolved.get("properties") or {}
        for field in sorted(properties):
            lines.append(self._field(field, properties[field], resolved, level))
            if self._recursive:
                lines.append(self._fields(properties[field], level + 1, seen))
        parts = [*(resolved.get("allOf") or ()), resolved.get("items"), map_value_schema(resolved)]
        lines += [self._fields(part, level, seen) for part in parts if part]
        return "".join(lines)

    def _field(self, name: str, schema: Object, owner: Object, level: int) -> str:
        indent = level * 2
        required = " -required-" if name in (owner.get("required") or ()) else ""
        text = f"{' ' * indent}{name}\t<{self.type_of(schema)}>{required}{_values_beside(schema, indent)}\n"
        if self._recursive:
            return text
        described = schema.get("description") or "<no description>"
        return f"{text}{_indent(fold(described, FIELD_WIDTH - indent), indent + 2)}\n\n"

    def type_of(self, schema: Object) -> str:
        """A short name of a field's type: ``string``, ``[]Container``, ``map[string]string``."""
        within = map_value_schema(schema)
        if schema.get("items"):
            return f"[]{self.type_of(schema['items'])}"
        if within:
            return f"map[string]{self.type_of(within)}"
        several: list[Object] = schema.get("allOf") or []
        if len(several) == 1 and not schema.get("properties"):
            return self.type_of(several[0])
        name = reference(schema)
        if name:
            kind = self._document.resolve(schema).get("type") if name in self._document.schemas else None
            return kind if kind and kind != "object" else name.rpartition(".")[2]
        kind = schema.get("type") or "Object"
        return "Object" if kind == "object" else str(kind)


def _values_below(schema: Object) -> str:
    values = schema.get("enum") or ()
    return "ENUM:" + "".join(f"\n    {_value(value)}" for value in values) if values else ""


def _values_beside(schema: Object, indent: int) -> str:
    values = schema.get("enum") or ()
    if not values:
        return ""
    more = ", ...." if len(values) > MOST_VALUES else ""
    return f"\n{' ' * indent}enum: {', '.join(_value(value) for value in values[:MOST_VALUES])}{more}"


def _value(one: Any) -> str:
    return '""' if one == "" else str(one)


def _indent(text: str, amount: int) -> str:
    pad = " " * amount
    return pad + text.replace("\n", f"\n{pad}")


def fold(text: str, width: int) -> str:
    """Fold a text at the width; its own line breaks and blanks stay.

    A word longer than the width stays where it is: to begin a line would not help it.
    """
    parts: list[str] = []
    column, blank = 0, ""
    for piece in _PIECES.findall(text):
        if piece == "\n":
            parts.append((blank if column + len(blank) <= width else "") + piece)
            column, blank = 0, ""
        elif piece.isspace() and "\u00a0" not in piece:
            blank = piece
        else:
            # The word is laid letter by letter: it moves as soon as it crosses the width while still shorter.
            if column + len(blank) + len(piece) > width and _crosses(column + len(blank), len(piece), width):
                parts.append("\n")
                column, blank = 0, ""
            parts.append(blank + piece)
            column += len(blank) + len(piece)
            blank = ""
    if column + len(blank) <= width:
        parts.append(blank)
    return "".join(parts)


def _crosses(before: int, length: int, width: int) -> bool:
    return width - before + 1 < width and length > width - before

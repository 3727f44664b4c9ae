"""The values that enumerated fields of the built-in types may have, as an OpenAPI v3 document tells them.

The table ``data/enums.txt`` lists Go types with their values (``scripts/make_enums.py``). A list of values in a document
is for readers alone: what a server accepts is decided by validation, and may be more or less.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from simcloud.kubernetes.api.objects import Object


@cache
def table() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Go types with their values, each with its meaning, which may be empty."""
    enums: dict[str, tuple[tuple[str, str], ...]] = {}
    types: list[str] = []
    for line in (files("simcloud.kubernetes.api") / "data" / "enums.txt").read_text().splitlines():
        if not line.startswith(" "):
            types = line.split()
            continue
        value, _, meaning = line.strip().removeprefix('"').partition('"')
        for go_type in types:
            enums[go_type] = (*enums.get(go_type, ()), (value, meaning.strip()))
    return enums


def add_enum(field: Object, go_type: str) -> None:
    """Tell the values of a field, or of what a list or a map holds, if its type is enumerated."""
    held = go_type.rpartition("]")[2].lstrip("*")
    values = table().get(held)
    if values is None:
        return
    named = [value for value, _ in values]
    if held == go_type:
        field["enum"] = named
        lines = [f' - `"{value}"` {meaning}'.rstrip() for value, meaning in values]
        said = "\n".join(["Possible enum values:", *lines])
        field["description"] = f"{field['description']}\n\n{said}" if field.get("description") else said
        return
    inside = field.get("items") or field.get("additionalProperties")
    if isinstance(inside, dict):
        inside["enum"] = named

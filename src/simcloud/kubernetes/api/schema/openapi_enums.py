"""The values of enumerated fields of the built-in types in OpenAPI v3 documents.

The table ``data/enums.txt`` lists Go types with their values (``scripts/make_enums.py``). The lists only inform
readers: validation decides what the server accepts.
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

"""Validation of values against a chart's ``values.schema.json``: types, required names, enumerations, bounds, patterns.

References, conditions and formats are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from simcloud.golang import float_text
from simcloud.helm.charts import Chart
from simcloud.helm.errors import HelmError
from simcloud.helm.functions.regexes import REGEXES


def check_schema(chart: Chart, values: dict[str, Any]) -> None:
    """Refuse values that a schema of the chart or of one inside it refuses."""
    complaints = "".join(_complaints(chart, values))
    if complaints:
        raise HelmError(
            f"values don't meet the specifications of the schema(s) in the following chart(s):\n{complaints}"
        )


def _complaints(chart: Chart, values: dict[str, Any]) -> list[str]:
    found: list[str] = []
    if chart.schema:
        try:
            schema = msgspec.json.decode(chart.schema)
        except msgspec.DecodeError:
            schema = {}
        faults = list(_faults(values, schema, "(root)")) if isinstance(schema, dict) else []
        if faults:
            found.append(f"{chart.name}:\n" + "".join(f"- {fault}\n" for fault in faults))
    for dependency in chart.dependencies:
        part = values.get(dependency.name)
        found.extend(_complaints(dependency, part if isinstance(part, dict) else {}))
    return found


def _faults(value: Any, schema: dict[str, Any], path: str) -> list[str]:
    wanted = schema.get("type")
    if wanted is not None:
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(_is(value, str(name)) for name in names):
            expected = ",".join(map(str, names))
            expected = f"[{expected}]" if len(names) > 1 else expected
            return [f"{path}: Invalid type. Expected: {expected}, given: {_type(value)}"]
    faults: list[str] = []
    if isinstance(value, dict):
        faults += _map_faults(value, schema, path)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for place, item in enumerate(value):
            faults += _faults(item, schema["items"], _below(path, str(place)))
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        shown = ", ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in allowed)
        faults.append(f"{path}: {path} must be one of the following: {shown}")
    return faults + _find_bound_faults(value, schema, path)


def _map_faults(value: dict[str, Any], schema: dict[str, Any], path: str) -> list[str]:
    faults = [f"{path}: {name} is required" for name in schema.get("required") or () if name not in value]
    known = schema.get("properties") or {}
    if schema.get("additionalProperties") is False:
        faults += [
            f"{path}: Additional property {name} is not allowed"
            for name in sorted(value)
            if name not in known
        ]
    for name, inner in known.items():
        if name in value and isinstance(inner, dict):
            faults += _faults(value[name], inner, _below(path, name))
    return faults


def _find_bound_faults(value: Any, schema: dict[str, Any], path: str) -> list[str]:
    faults = []
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        least, most = schema.get("minimum"), schema.get("maximum")
        if isinstance(least, (int, float)) and value < least:
            faults.append(f"{path}: Must be greater than or equal to {float_text(float(least))}")
        if isinstance(most, (int, float)) and value > most:
            faults.append(f"{path}: Must be less than or equal to {float_text(float(most))}")
    if isinstance(value, str):
        shortest, longest = schema.get("minLength"), schema.get("maxLength")
        if isinstance(shortest, int) and len(value) < shortest:
            faults.append(f"{path}: String length must be greater than or equal to {shortest}")
        if isinstance(longest, int) and len(value) > longest:
            faults.append(f"{path}: String length must be less than or equal to {longest}")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not _matches(pattern, value):
            faults.append(f"{path}: Does not match pattern '{pattern}'")
    return faults


def _matches(pattern: str, value: str) -> bool:
    return bool(REGEXES["regexMatch"].call(pattern, value))


def _below(path: str, name: str) -> str:
    return name if path == "(root)" else f"{path}.{name}"


def _type(value: Any) -> str:
    if isinstance(value, float) and value == int(value):
        return "integer"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return "null" if value is None else names.get(type(value), "object")


def _is(value: Any, name: str) -> bool:
    return _type(value) == name or (name == "number" and _type(value) == "integer")

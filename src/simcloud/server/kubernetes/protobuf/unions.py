"""Three messages of CustomResourceDefinitions that are unions in JSON.

``additionalProperties: false`` and ``additionalProperties: {type: string}`` are the same message with
different fields set. ``collapse`` converts the fields to JSON, ``expand`` JSON to the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def _schema_or_list(fields: Mapping[str, Any]) -> Any:
    return fields["jSONSchemas"] or fields["schema"]


def _schema_or_flag(fields: Mapping[str, Any]) -> Any:
    return fields["allows"] if fields["schema"] is None else fields["schema"]


def _schema_or_names(fields: Mapping[str, Any]) -> Any:
    return fields["property"] or fields["schema"]


_COLLAPSE: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "JSONSchemaPropsOrArray": _schema_or_list,
    "JSONSchemaPropsOrBool": _schema_or_flag,
    "JSONSchemaPropsOrStringArray": _schema_or_names,
}
_LIST_FIELD = {"JSONSchemaPropsOrArray": "jSONSchemas", "JSONSchemaPropsOrStringArray": "property"}


def collapse(message: str, fields: dict[str, Any]) -> Any:
    """Convert a decoded message to its JSON form."""
    return _COLLAPSE[message](fields) if message in _COLLAPSE else fields


def expand(message: str, value: Any) -> Any:
    """Return the fields of a message from what JSON shows."""
    if message not in _COLLAPSE:
        return value
    if isinstance(value, list):
        return {_LIST_FIELD[message]: value}
    if isinstance(value, bool):
        return {"allows": value}
    return {"schema": value, "allows": True} if value is not None else {}

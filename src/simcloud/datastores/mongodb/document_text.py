"""Formatting of documents in mongod's messages: ``{ hotelId: "1", when: new Date(1) }``."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from simcloud.datastores.mongodb.bson import Binary, ObjectId, Regex, milliseconds
from simcloud.datastores.mongodb.extended_json import uuid_text


def show(value: Any) -> str:
    """Return a value in the loose notation of error messages."""
    kind = value.__class__
    if kind is dict:
        return (
            "{ " + ", ".join(f"{name}: {show(each)}" for name, each in value.items()) + " }"
            if value
            else "{}"
        )
    if kind is list:
        return "[ " + ", ".join(map(show, value)) + " ]" if value else "[]"
    if kind is str:
        return json.dumps(value, ensure_ascii=False)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "null"
    return _show_scalar(value)


def _show_scalar(value: Any) -> str:
    if value.__class__ is float:
        return show_double(value)
    if isinstance(value, int):
        return str(int(value))
    if value.__class__ is ObjectId:
        return f"ObjectId('{value}')"
    if value.__class__ is datetime:
        return f"new Date({milliseconds(value)})"
    if value.__class__ is Regex:
        return f"/{value.pattern}/{value.options}"
    if value.__class__ is Binary:
        text = uuid_text(value.data) if value.subtype == 4 else ""
        return f'UUID("{text}")' if text else f"BinData({value.subtype}, {value.data.hex().upper()})"
    if value.__class__ is bytes:
        return f"BinData(0, {value.hex().upper()})"
    return str(value)


def show_double(value: float) -> str:
    """Format a double with a decimal point."""
    if value != value:
        return "nan.0"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value)}.0"
    return repr(value)

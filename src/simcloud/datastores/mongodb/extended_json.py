"""Values as relaxed extended JSON, the notation of mongod's log: ``{"$oid":"…"}``, ``{"$date":"…"}``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from simcloud.datastores.mongodb.bson import Binary, ObjectId, Regex


def to_relaxed_json(value: Any) -> Any:
    """The value as something JSON can hold."""
    kind = value.__class__
    if kind is dict:
        return {name: to_relaxed_json(each) for name, each in value.items()}
    if kind is list or kind is tuple:
        return [to_relaxed_json(each) for each in value]
    if kind in (str, bool, int) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    return _special(value)


def _special(value: Any) -> Any:
    kind = value.__class__
    if kind is float:
        return value if value == value and abs(value) != float("inf") else {"$numberDouble": str(value)}
    if kind is ObjectId:
        return {"$oid": str(value)}
    if kind is datetime:
        return {"$date": f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z"}
    if kind is Regex:
        return {"$regularExpression": {"pattern": value.pattern, "options": value.options}}
    if kind is Binary or kind is bytes:
        data, subtype = (value.data, value.subtype) if kind is Binary else (value, 0)
        return {"$uuid": uuid_text(data)} if subtype == 4 else {"$binary": data.hex(), "$type": str(subtype)}
    return str(value)


def uuid_text(data: bytes) -> str:
    """Sixteen bytes with the usual dashes."""
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

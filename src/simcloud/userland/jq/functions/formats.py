"""``@text``, ``@csv``, ``@sh`` and the other formats."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from urllib.parse import quote

from simcloud.userland.jq.errors import JqError
from simcloud.userland.jq.functions.collections import tojson, tostring
from simcloud.userland.jq.functions.registry import native, refuse
from simcloud.userland.jq.output import number_text
from simcloud.userland.jq.run import Run
from simcloud.userland.jq.tree import Value
from simcloud.userland.jq.utf8 import decode

HTML = str.maketrans({"<": "&lt;", ">": "&gt;", "&": "&amp;", "'": "&apos;", '"': "&quot;", "\0": "\\0"})
TSV = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\", "\0": "\\0"})
BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


@native("format", 1)
def apply_format(run: Run, value: Value, name: Value) -> Value:
    """The input in a named format."""
    if type(name) is not str:
        refuse(name, "is not a valid format")
    make = FORMATS.get(name)
    if make is None:
        raise JqError(f"{name} is not a valid format")
    return run.text(make(run, value))


def _text(run: Run, value: Value) -> str:
    return run.quotable(tostring(run, value))


def _json(run: Run, value: Value) -> str:
    text: str = tojson(run, value)
    return text


def _html(run: Run, value: Value) -> str:
    return _text(run, value).translate(HTML)


def _uri(run: Run, value: Value) -> str:
    return quote(_text(run, value).encode(), safe="-_.~!*'()")


def _row(run: Run, value: Value, name: str, string: Callable[[str], str]) -> list[str]:
    if type(value) is not list:
        refuse(value, f"cannot be {name}-formatted, only array")
    return [_cell(item, lambda text: string(run.quotable(text))) for item in value]


def _cell(item: Value, string: Callable[[str], str]) -> str:
    if type(item) is str:
        return string(item)
    if type(item) is float:
        return number_text(item) if item == item else ""
    if item is None:
        return ""
    if type(item) is bool:
        return "true" if item else "false"
    refuse(item, "is not valid in a csv row")


def _csv(run: Run, value: Value) -> str:
    return ",".join(_row(run, value, "csv", lambda text: '"' + text.replace('"', '""') + '"'))


def _tsv(run: Run, value: Value) -> str:
    return "\t".join(_row(run, value, "tsv", lambda text: text.translate(TSV)))


def _sh(run: Run, value: Value) -> str:
    return " ".join(_word(run, item) for item in (value if type(value) is list else [value]))


def _word(run: Run, item: Value) -> str:
    if type(item) in (list, dict):
        refuse(item, "can not be escaped for shell")
    if type(item) is str:
        return "'" + run.quotable(item).replace("'", "'\\''").replace("\0", "\\0") + "'"
    return _json(run, item)


def _base64(run: Run, value: Value) -> str:
    return base64.b64encode(_text(run, value).encode()).decode()


def _base64d(run: Run, value: Value) -> str:
    text = _text(run, value)
    data = text.encode().partition(b"=")[0]
    if not BASE64.issuperset(data):
        refuse(text, "is not valid base64 data")
    if len(data) % 4 == 1:
        refuse(text, "trailing base64 byte found")
    return decode(binascii.a2b_base64(data + b"=" * (-len(data) % 4)))


FORMATS: dict[str, Callable[[Run, Value], str]] = {
    "text": _text,
    "json": _json,
    "html": _html,
    "uri": _uri,
    "csv": _csv,
    "tsv": _tsv,
    "sh": _sh,
    "base64": _base64,
    "base64d": _base64d,
}

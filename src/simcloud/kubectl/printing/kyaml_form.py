"""``-o kyaml``: YAML in flow style with all strings quoted."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from simcloud.golang import format_json
from simcloud.kubectl.errors import PrintError
from simcloud.kubectl.printing.yaml_form import simple
from simcloud.kubectl.printing.yaml_scalars import ESCAPES, forbidden, reads_otherwise
from simcloud.kubernetes.api import Object

_SAFE = re.compile(r"\w(?:[\w./-]*\w)?\Z")
_AMBIGUOUS = frozenset({"t", "f", "nan", "inf"})


def as_kyaml(obj: Object, *, keep_order: bool = False) -> str:
    """An object or List as ``-o kyaml`` prints it. PrintError if it has characters that YAML cannot hold."""
    return "---\n" + _Writer(keep_order).value(obj, 0) + "\n"


class _Writer:
    def __init__(self, keep_order: bool) -> None:
        self._keep_order = keep_order

    def value(self, value: Any, indent: int) -> str:
        """A value whose first line is indented so far."""
        if isinstance(value, str):
            return _string(value, indent)
        if isinstance(value, dict) and value:
            return self._map(value, indent)
        if isinstance(value, list) and value:
            return self._list(value, indent)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return format_json(value)
        return simple(value)

    def _map(self, value: dict[str, Any], indent: int) -> str:
        lead = " " * (indent + 2)
        names = list(value) if self._keep_order else sorted(value)
        lines = [f"{lead}{_key(name)}: {self.value(value[name], indent + 2)},\n" for name in names]
        return "{\n" + "".join(lines) + " " * indent + "}"

    def _list(self, value: list[Any], indent: int) -> str:
        if all(isinstance(item, (dict, list)) for item in value):
            return "[" + ", ".join(self.value(item, indent) for item in value) + "]"
        lead = " " * (indent + 2)
        lines = [f"{lead}{self.value(item, indent + 2)},\n" for item in value]
        return "[\n" + "".join(lines) + " " * indent + "]"


@lru_cache(maxsize=8192)
def _key(name: str) -> str:
    lower = name.lower()
    ambiguous = (
        lower in _AMBIGUOUS or reads_otherwise(lower) or reads_otherwise(lower.replace("_", "") or "_")
    )
    if _SAFE.match(name) and not ambiguous:
        return name
    return '"' + _escape(name).replace("\t", "\\t") + '"'


def _string(text: str, indent: int) -> str:
    if forbidden(text):
        raise PrintError("error decoding: yaml: control characters are not allowed")
    if "\n" not in text:
        return f'"{_escape(text)}"'
    lead = "\n" + " " * (indent + 2)
    lines = text.split("\n")
    last = lines.pop()
    written = [_line(line) + "\\n\\" for line in lines]
    if last:
        written.append(_line(last) + "\\")
    return '"\\' + "".join(lead + line for line in written) + lead + '"'


def _line(line: str) -> str:
    """One line of several; a backslash keeps the space it begins with."""
    return ("\\" if line[:1] in (" ", "\t") else " ") + _escape(line)


def _escape(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(map(_escape_character, text))


def _escape_character(char: str) -> str:
    number = ord(char)
    if char == "\t" or (char.isprintable() and char not in '"\\'):
        return char
    if number in ESCAPES:
        return "\\" + ESCAPES[number]
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"

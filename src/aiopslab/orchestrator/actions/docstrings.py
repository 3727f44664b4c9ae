"""Parses docstrings in Google's style into summary, arguments and return value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SECTIONS: Final = {"Args:": "args", "Arguments:": "args", "Parameters:": "args", "Returns:": "returns"}
_OTHER: Final = re.compile(r"[A-Z]\w+:$")
_ARGUMENT: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)")


@dataclass(frozen=True)
class Docstring:
    """A docstring and its parts. ``text`` is all of it, without indentation."""

    text: str
    summary: str
    arguments: dict[str, str]
    returns: str


def parse_docstring(text: str) -> Docstring:
    """Parse a docstring as returned by ``inspect.getdoc``."""
    parts: dict[str, list[str]] = {"summary": []}
    current = "summary"
    for line in text.splitlines():
        if line in SECTIONS:
            current = SECTIONS[line]
        elif _OTHER.match(line):
            current = line
        else:
            parts.setdefault(current, []).append(line)
    return Docstring(
        text.strip(),
        "\n".join(parts["summary"]).strip(),
        _parse_arguments(parts.get("args", [])),
        " ".join(line.strip() for line in parts.get("returns", ()) if line.strip()),
    )


def _parse_arguments(lines: list[str]) -> dict[str, str]:
    """Return each argument's description; deeper indented lines continue the one before."""
    found: dict[str, str] = {}
    non_blank = [line for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in non_blank), default=0)
    name = ""
    for line in non_blank:
        match = _ARGUMENT.fullmatch(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if match:
            name, found[match[1]] = match[1], match[2].strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found

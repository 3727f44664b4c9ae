"""Docstrings in Google's style, read: what a function does, what its arguments mean, what it returns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SECTIONS: Final = {"Args:": "args", "Arguments:": "args", "Parameters:": "args", "Returns:": "returns"}
_OTHER: Final = re.compile(r"[A-Z]\w+:$")
_ARGUMENT: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)")


@dataclass(frozen=True)
class Documented:
    """A docstring with its parts. ``text`` is all of it, without what only indents it."""

    text: str
    summary: str
    arguments: dict[str, str]
    returns: str


def documented(text: str) -> Documented:
    """Read a docstring that ``inspect.getdoc`` has straightened."""
    parts: dict[str, list[str]] = {"summary": []}
    current = "summary"
    for line in text.splitlines():
        if line in SECTIONS:
            current = SECTIONS[line]
        elif _OTHER.match(line):
            current = line
        else:
            parts.setdefault(current, []).append(line)
    return Documented(
        text.strip(),
        "\n".join(parts["summary"]).strip(),
        _arguments(parts.get("args", [])),
        " ".join(line.strip() for line in parts.get("returns", ()) if line.strip()),
    )


def _arguments(lines: list[str]) -> dict[str, str]:
    """Each argument's description; lines that are indented deeper go on with the one before."""
    found: dict[str, str] = {}
    written = [line for line in lines if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in written), default=0)
    name = ""
    for line in written:
        match = _ARGUMENT.fullmatch(line.strip()) if len(line) - len(line.lstrip()) == indent else None
        if match:
            name, found[match[1]] = match[1], match[2].strip()
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found

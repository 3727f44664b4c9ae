"""Parses text between delimiters: patterns, replacements and the strings of ``y``."""

from __future__ import annotations

from collections.abc import Mapping

from simcloud.userland.commands.sed.escapes import read_escape
from simcloud.userland.commands.sed.reader import Reader
from simcloud.userland.commands.sed.script import CaseChange, CaseMark, GroupText, LiteralText, Part

_CASE_MARKS: Mapping[str, CaseMark] = {"U": "U", "L": "L", "u": "u", "l": "l", "E": "E"}


def read_delimited(reader: Reader, delimiter: str, *, regex: bool) -> str | None:
    """Text up to the delimiter, which a backslash makes ordinary; None if it does not come.

    In a pattern the delimiter is ordinary inside brackets too.
    """
    out: list[str] = []
    while (char := reader.get()) != delimiter:
        if char in ("", "\n"):
            reader.back(char)
            return None
        if char == "\\":
            char = reader.get()
            if not char:
                return None
            if char == delimiter:
                char = "\\&" if char == "&" and not regex else char
            elif char == "n" and regex:
                char = "\n"
            elif char != "\n" or not regex:
                char = "\\" + char
        elif char == "[" and regex:
            bracket = _read_bracket(reader)
            if bracket is None:
                return None
            char += bracket
        out.append(char)
    return "".join(out)


def _read_bracket(reader: Reader) -> str | None:
    """The rest of a bracket expression, as it stands."""
    content = ""
    while True:
        char = reader.get()
        if char in ("", "\n"):
            reader.back(char)
            return None
        content += char
        if char == "]" and content not in ("]", "^]"):
            return content.replace("\\n", "\n")
        following = reader.peek()
        if char == "[" and following and following in ":.=":
            named = _read_named(reader)
            if named is None:
                return None
            content += named


def _read_named(reader: Reader) -> str | None:
    """The rest of ``[:alpha:]`` and the like."""
    closing = reader.peek() + "]"
    content = reader.get()
    while not content.endswith(closing) or len(content) < 3:
        char = reader.get()
        if char in ("", "\n"):
            reader.back(char)
            return None
        content += char
    return content


def parse_replacement(text: str) -> tuple[Part, ...]:
    """The parts of a replacement: text, groups and changes of case."""
    parts: list[Part] = []
    literal: list[str] = []

    def add(part: Part) -> None:
        if literal:
            parts.append(LiteralText("".join(literal).encode("latin-1")))
            literal.clear()
        parts.append(part)

    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "&":
            add(GroupText(0))
        elif char != "\\" or position == len(text):
            literal.append(char)
        else:
            char = text[position]
            escape = read_escape(text, position)
            position = escape[1] if escape else position + 1
            if char in "0123456789":
                add(GroupText(int(char)))
            elif char in _CASE_MARKS:
                add(CaseChange(_CASE_MARKS[char]))
            else:
                literal.append(escape[0] if escape else char)
    if literal:
        parts.append(LiteralText("".join(literal).encode("latin-1")))
    return tuple(parts)


def parse_translation(source: str, target: str, *, utf8: bool) -> dict[int, str] | None:
    """Return the translation table; None if the two strings differ in length."""
    before, after = _characters(source, utf8), _characters(target, utf8)
    if before is None or after is None or len(before) != len(after):
        return None
    table: dict[int, str] = {}
    for old, new in zip(before, after, strict=True):
        table.setdefault(ord(old), new)
    return table


def _characters(text: str, utf8: bool) -> list[str] | None:
    """The characters of a string of ``y``; None if a backslash quotes something it should not."""
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char == "\\":
            escape = read_escape(text, position)
            if escape is not None:
                char, position = escape
            elif text[position : position + 1] in ("\\", "&"):
                char = text[position]
                position += 1
            else:
                return None
        out.append(char)
    joined = "".join(out)
    if utf8:
        return list(joined.encode("latin-1").decode("utf-8", "surrogateescape"))
    return list(joined)

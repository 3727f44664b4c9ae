"""Builds words from their parts, and defines the syntax error."""

from __future__ import annotations

import re
from typing import Final

from simcloud.userland.bash.syntax import Literal, Part, Quoted, Tilde, Word

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TILDE = re.compile(r"~([^/\s'\"\\$`:]*)")
_ASSIGNMENT_TILDE = re.compile(r"(^|:)~([^/\s'\"\\$`:]*)(?=[/:]|$)")
_ACTIVE = re.compile(r"[*?]|\[[^\]]*\]|\[[^\[]*\]|[+@!]\(")


class ShellSyntaxError(Exception):
    """The text is no valid script. Holds bash's message and the line."""

    def __init__(self, message: str, line: int, echo: str | None = None, status: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.echo = echo
        self.status = status
        self.in_substitution = False

    @property
    def at_end(self) -> bool:
        """Whether more text could have put it right."""
        return "unexpected EOF" in self.message or "end of file" in self.message

    def again(self) -> ShellSyntaxError:
        """The same error, to be raised once more."""
        twin = type(self)(self.message, self.line, self.echo, self.status)
        twin.in_substitution = self.in_substitution
        return twin


def finish_word(parts: list[Part], text: str, assignment: bool = False) -> Word:
    """A word from its parts: joins neighbours, finds tildes, and sees whether it is plain text."""
    merged: list[Part] = []
    for part in parts:
        if merged and type(part) is type(merged[-1]) and isinstance(part, Literal | Quoted):
            merged[-1] = type(part)(merged[-1].text + part.text)  # type: ignore[union-attr]  # they are of one type
        else:
            merged.append(part)
    if merged and isinstance(merged[0], Literal) and "~" in merged[0].text:
        merged = _find_tildes(merged, assignment)
    elif assignment and any(isinstance(part, Literal) and ":~" in part.text for part in merged):
        merged = _find_tildes(merged, True)
    word = Word(merged, text)
    texts = [
        part.text
        for part in merged
        if isinstance(part, Quoted) or (isinstance(part, Literal) and not _ACTIVE.search(part.text))
    ]
    if len(texts) == len(merged):
        word.literal = "".join(texts)
    word.has_braces = any(isinstance(part, Literal) and "{" in part.text for part in merged) and "}" in text
    if word.has_braces:
        word.literal = None
    return word


def _find_tildes(parts: list[Part], assignment: bool) -> list[Part]:
    result: list[Part] = []
    for index, part in enumerate(parts):
        if not isinstance(part, Literal) or "~" not in part.text:
            result.append(part)
            continue
        text, is_last = part.text, index == len(parts) - 1
        if assignment or (index == 0 and _looks_assigned(text)):
            offset = 0 if assignment else text.index("=") + 1
            if offset:
                result.append(Literal(text[:offset]))
            _split_assigned_tildes(text[offset:], result, index == 0, is_last)
        elif index == 0 and (match := _TILDE.match(text)):
            end = match.end()
            if (end < len(text) and text[end] == "/") or (end == len(text) and is_last):
                result.append(Tilde(match[1]))
                if text[end:]:
                    result.append(Literal(text[end:]))
            else:
                result.append(part)
        else:
            result.append(part)
    return result


def _looks_assigned(text: str) -> bool:
    name = NAME.match(text)
    return name is not None and text[name.end() : name.end() + 1] == "="


def _split_assigned_tildes(text: str, result: list[Part], at_start: bool, is_last: bool) -> None:
    position = 0
    for match in _ASSIGNMENT_TILDE.finditer(text):
        if (match.start() == 0 and not match[1] and not at_start) or (
            match.end() == len(text) and not is_last
        ):
            continue
        before = text[position : match.start()] + match[1]
        if before:
            result.append(Literal(before))
        result.append(Tilde(match[2]))
        position = match.end()
    if text[position:]:
        result.append(Literal(text[position:]))

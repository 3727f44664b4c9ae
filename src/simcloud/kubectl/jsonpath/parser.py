"""Parses JSONPath templates as leniently and with the same errors as the genuine kubectl."""

from __future__ import annotations

import re
from typing import NoReturn

from simcloud.golang import is_int64, unquote
from simcloud.kubectl.jsonpath.nodes import (
    Branch,
    Descent,
    Field,
    Filter,
    Identifier,
    JsonPathError,
    Node,
    Number,
    Slice,
    Text,
    Truth,
    Union,
    Wildcard,
)

_KEY = re.compile(r"'([^']*)'\Z")
_SLICE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?\Z")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+?)\Z")
_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)\Z")
_ENDS_A_WORD = frozenset(" \t\r\n.,[]$@{}")

_FORM = re.compile(r"\{\.?([^{}]+)\}\Z|\.?([^{}]+)\Z")


def parse(text: str) -> list[Node]:
    """The nodes of a template: text, and a branch for each pair of braces. JsonPathError if it has none."""
    return _Parser(text).template()


def _action(text: str) -> Branch:
    """What one pair of braces around a text would mean; anything after a brace that ends it is dropped."""
    first = parse("{" + text + "}")[0]
    assert isinstance(first, Branch)
    return first


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def template(self) -> list[Node]:
        nodes: list[Node] = []
        while self._place < len(self._text):
            opening = self._text.find("{", self._place)
            words = self._text[self._place : opening if opening >= 0 else None]
            if words:
                nodes.append(Text(words))
            if opening < 0:
                break
            self._place = opening + 1
            nodes.append(self._braces())
        return nodes

    def _braces(self) -> Branch:
        branch = Branch()
        while not self._text.startswith("}", self._place):
            self._step(branch.nodes)
        self._place += 1
        return branch

    def _step(self, nodes: list[Node]) -> None:
        if self._text.startswith("[?(", self._place):
            nodes.append(self._filter())
            return
        if self._text.startswith("..", self._place):
            self._descent(nodes)
            return
        char = self._next()
        if char in ("", "\r", "\n"):
            raise JsonPathError("unclosed action")
        if char in " @$":
            return
        if char == "[":
            nodes.extend(self._brackets())
        elif char in "\"'":
            nodes.append(self._read_quoted(char))
        elif char == ".":
            nodes.append(self._field())
        elif char in "+-" or char.isdecimal():
            nodes.append(self._number(self._place - 1))
        elif _in_a_word(char):
            nodes.append(self._word(self._place - 1))
        else:
            shown = f" '{char}'" if char.isprintable() else ""
            raise JsonPathError(f"unrecognized character in action: U+{ord(char):04X}{shown}")

    def _next(self) -> str:
        char = self._text[self._place : self._place + 1]
        self._place += len(char)
        return char

    def _descent(self, nodes: list[Node]) -> None:
        if nodes and isinstance(nodes[-1], Descent):
            raise JsonPathError("invalid multiple recursive descent")
        self._place += 2
        nodes.append(Descent())
        if _in_a_word(self._text[self._place : self._place + 1]):
            nodes.append(self._field())

    def _field(self) -> Node:
        start = self._place
        while self._place < len(self._text) and self._text[self._place] not in _ENDS_A_WORD:
            self._place += 2 if self._text[self._place] == "\\" else 1
        self._place = min(self._place, len(self._text))
        name = self._text[start : self._place]
        return Wildcard() if name == "*" else Field(name.replace("\\", ""))

    def _word(self, start: int) -> Node:
        while self._place < len(self._text) and self._text[self._place] not in _ENDS_A_WORD:
            self._place += 1
        word = self._text[start : self._place]
        return Truth(word == "true") if word in ("true", "false") else Identifier(word)

    def _number(self, start: int) -> Number:
        while (char := self._text[self._place : self._place + 1]) == "." or char.isdecimal():
            self._place += 1
        text = self._text[start : self._place]
        if _WHOLE.match(text) and len(text) < 100 and is_int64(int(text)):
            return Number(int(text))
        if not _FLOAT.match(text) or (number := float(text)) == float("inf"):
            raise JsonPathError(f"cannot parse number {text}")
        return Number(number)

    def _read_quoted(self, mark: str) -> Text:
        start = self._place
        while True:
            char = self._next()
            if char in ("", "\n"):
                raise JsonPathError("unterminated quoted string")
            if char == mark and self._text[self._place - 2] != "\\":
                break
        body = self._text[start : self._place - 1]
        try:
            return Text(unquote(body, mark))
        except ValueError as error:
            raise JsonPathError(f"unquote string {mark}{body}{mark} error {error}") from None

    def _brackets(self) -> list[Node]:
        start = self._place
        while (char := self._next()) != "]":
            if char in ("", "\n"):
                raise JsonPathError("unterminated array")
        text = self._text[start : self._place - 1]
        if "," in text:
            return [Union([_action(f"[{part.strip(' ')}]") for part in text.split(",")])]
        if key := _KEY.match(text):
            return _action(f".{key[1]}").nodes
        return [_slice(":" if text == "*" else text)]

    def _filter(self) -> Filter:
        self._place += 3
        text = self._filter_text()
        if self._next() != "]":
            raise JsonPathError("unclosed array expect ]")
        comparison = _COMPARISON.match(text)
        if comparison is None:
            return Filter(_action(text), Branch(), "exists")
        return Filter(_action(comparison[1]), _action(comparison[3]), comparison[2])

    def _filter_text(self) -> str:
        """Up to the parenthesis that closes the filter: the first outside of its one quoted string."""
        start, mark, quoted = self._place, "", False
        while True:
            char = self._next()
            if char in ("", "\n"):
                raise JsonPathError("unterminated filter")
            if char in "\"'":
                if not mark:
                    mark = char
                elif char == mark and self._text[self._place - 2] != "\\":
                    quoted = True
            elif char == ")" and bool(mark) == quoted:
                return self._text[start : self._place - 1]


def _in_a_word(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


def _slice(text: str) -> Slice:
    match = _SLICE.match(text)
    if match is None:
        raise JsonPathError(f"invalid array index {text}")
    start = _parse_bound(match[1])
    if match[2] is None:
        return Slice(start, (start or 0) + 1, None if match[3] is None else _parse_bound(match[3][1:]), True)
    return Slice(
        start, _parse_bound(match[2][1:]), None if match[3] is None else _parse_bound(match[3][1:]), False
    )


def _parse_bound(text: str) -> int | None:
    if not text:
        return None
    if text == "-" or len(text) > 100 or not is_int64(int(text)):
        _no_number(text)
    return int(text)


def _no_number(text: str) -> NoReturn:
    raise JsonPathError(f"array index {text} is not a number")


def complete_path(path: str) -> str:
    """Return the full path, like ``{.metadata.name}``; raises ``JsonPathError`` if it is not a single path."""
    if not path:
        return path
    match = _FORM.match(path)
    if match is None:
        raise JsonPathError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return "{." + (match[1] or match[2]) + "}"

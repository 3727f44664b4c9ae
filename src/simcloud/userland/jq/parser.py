"""Parses the text of a program to its tree, with jq's error messages.

The driver follows Bison's: reduce without look-ahead where there is no choice, and after an error drop input until a
rule for errors fits, so that later errors are found too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from simcloud.userland.jq.errors import CompileErrors
from simcloud.userland.jq.grammar import (
    ACTIONS,
    BINDING,
    RULES,
    TOKENS,
    WIDER_ACTIONS,
    WIDER_RULES,
)
from simcloud.userland.jq.lalr import END, ERROR, FAIL, Tables, build
from simcloud.userland.jq.lexer import Token, tokens
from simcloud.userland.jq.output import brief
from simcloud.userland.jq.tree import Node, Value
from simcloud.userland.jq.utf8 import decode
from simcloud.userland.jq.values import kind_of

RECOVERY = 3
"""Tokens that must be accepted after an error before the next one is reported."""

MAX_LISTED = 4
MAX_DEPTH = 10_000


@cache
def tables(wider: bool) -> Tables:
    """The tables of the grammar of jq 1.6, or of the wider one."""
    return build(WIDER_RULES if wider else RULES, BINDING)


def parse_program(source: bytes) -> Node:
    """Parse a program to its tree. Raises ``CompileErrors`` with the messages of jq 1.6."""
    parser = Parser(source, wider=False)
    result = parser.parse()
    if parser.complaints:
        second = Parser(source, wider=True)
        result = second.parse()
        if second.complaints:
            raise CompileErrors(parser.complaints)
    imports: list[str]
    body: Node
    imports, body = result
    if imports:
        raise CompileErrors([f"module not found: {imports[0]}\n"])
    return body


class Parser:
    """Parses one program."""

    def __init__(self, source: bytes, *, wider: bool) -> None:
        self.source = source
        self.complaints: list[str] = []
        self.at = 0
        self._tables = tables(wider)
        self._rules = WIDER_RULES if wider else RULES
        self._actions = WIDER_ACTIONS if wider else ACTIONS
        self._states = [0]
        self._values: list[Any] = []
        self._places: list[int] = []
        self._tokens: Iterator[Token] = tokens(source)
        self._forgiving = 0

    @property
    def line(self) -> int:
        """The line of the rule being reduced, from 1."""
        return self.source.count(b"\n", 0, self.at) + 1

    def complain(self, message: str) -> None:
        """Report a mistake in the rule being reduced."""
        self.complaints.append(add_location(message, self.source, self.at))

    def complain_of_key(self, key: Value) -> None:
        """Report a constant that is no key of an object."""
        self.complain(f"Cannot use {kind_of(key)} ({brief(key, 14)}) as object key")

    def parse(self) -> Any:
        """Parse to the value of the start symbol; None after an error."""
        token: Token | None = None
        while True:
            state = self._states[-1]
            row, default = self._tables.actions[state], self._tables.defaults[state]
            if not row:
                self._reduce(default)
                continue
            if token is None:
                token = self._next()
            entry = row.get(token.kind)
            if entry is None:
                if default >= 0:
                    self._reduce(default)
                    continue
                entry = FAIL
            if entry > 0:
                if token.kind == END:
                    return self._values[-1]
                self._push(entry - 1, token.value, token.start)
                self._forgiving = max(0, self._forgiving - 1)
                token = None
            elif entry < 0:
                self._reduce(-entry - 1)
            else:
                token = self._recover(token)
                if token is None and not self._states:
                    return None

    def _next(self) -> Token:
        token = next(self._tokens)
        if token.complaint:
            self.complaints.append(add_location(token.complaint, self.source, token.start))
        return token

    def _push(self, state: int, value: Any, place: int) -> None:
        if len(self._states) >= MAX_DEPTH:
            raise CompileErrors([*self.complaints, add_location("memory exhausted", self.source, place)])
        self._states.append(state)
        self._values.append(value)
        self._places.append(place)

    def _reduce(self, number: int) -> None:
        rule = self._rules[number - 1]
        size = len(rule.right)
        values: list[Any] = []
        place = self._places[-1] if self._places else 0
        if size:
            values = self._values[-size:]
            place = self._places[-size]
            del self._states[-size:], self._values[-size:], self._places[-size:]
        self.at = place
        made = self._actions[number - 1](self, *values)
        self._push(self._tables.gotos[self._states[-1]][rule.left], made, place)

    def _recover(self, token: Token) -> Token | None:
        """Report a mistake and find a state that can go on; forgets all states if there is none."""
        if not self._forgiving:
            self.complaints.append(add_location(self._error_text(token), self.source, token.start))
        lookahead: Token | None = token
        place = token.start
        if self._forgiving == RECOVERY:
            if token.kind == END:
                self._states.clear()
                return None
            lookahead = None
        self._forgiving = RECOVERY
        while self._tables.actions[self._states[-1]].get(ERROR, FAIL) <= 0:
            self._states.pop()
            if not self._states or not self._places:
                self._states.clear()
                return None
            place = self._places.pop()
            self._values.pop()
        self._push(self._tables.actions[self._states[-1]][ERROR] - 1, None, place)
        return lookahead if lookahead is not None else self._next()

    def _error_text(self, token: Token) -> str:
        row = self._tables.actions[self._states[-1]]
        expected = [name for name in TOKENS if row.get(name, FAIL) != FAIL and name != ERROR]
        text = f"syntax error, unexpected {_quote_token(token.kind)}"
        if 0 < len(expected) <= MAX_LISTED:
            text += ", expecting " + " or ".join(map(_quote_token, expected))
        return f"{text} (Unix shell quoting issues?)"


def _quote_token(token: str) -> str:
    return f"'{token}'" if len(token) == 1 else token


def add_location(message: str, source: bytes, at: int) -> str:
    """Add the source line and the position to a message, as jq does."""
    start = source.rfind(b"\n", 0, at) + 1
    stop = source.find(b"\n", start)
    line = source[start : stop if stop >= 0 else len(source)]
    number = source.count(b"\n", 0, at) + 1
    return f"{message} at <top-level>, line {number}:\n{decode(line)}{' ' * (at - start)}"

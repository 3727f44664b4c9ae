"""Parses the inside of ``[[ ... ]]``.

It has a grammar of its own: operators are words, ``<`` and ``(`` are not redirections or subshells, and ``=~`` is
followed by a regular expression, in which parentheses need no quotes.
"""

from __future__ import annotations

import re
from typing import Final

from simcloud.userland.bash.syntax import Test, TestBinary, TestGroup, TestJoin, TestNot, TestWord, Word
from simcloud.userland.bash.word_parts import ShellSyntaxError, finish_word
from simcloud.userland.bash.words import WORD_END, WordReader

UNARY: Final = frozenset("-" + letter for letter in "abcdefghknoprstuvwxzGLNORS")
BINARY: Final = frozenset(
    ("=", "==", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
)
_BLANKS = re.compile(r"(?:[ \t\n]|\\\n)*")
_TOKEN = re.compile(r"&&|\|\||\(|\)|<|>|!(?=[ \t\n(])|[;&|]")


class ConditionError(ShellSyntaxError):
    """A syntax error inside ``[[ ]]``: bash reports it and stops reading, without a further message."""


class ConditionParser:
    """Parses a conditional expression at the position of a ``WordReader``."""

    def __init__(self, reader: WordReader) -> None:
        self._reader = reader

    def parse(self) -> Test:
        """Parse the expression after ``[[`` up to and including ``]]``."""
        test = self._or()
        token = self._peek()
        if token != "]]":
            known = f": unexpected token `{token}'" if _TOKEN.fullmatch(token) else ""
            raise self._error(f"syntax error in conditional expression{known}")
        self._reader.position += 2
        return test

    def _peek(self) -> str:
        """The operator or word at the position, without taking it; "" at the end of the text."""
        match = _BLANKS.match(self._reader.source, self._reader.position)
        assert match is not None
        self._reader.position = match.end()
        if self._reader.position >= self._reader.end:
            return ""
        operator = _TOKEN.match(self._reader.source, self._reader.position)
        if operator:
            return operator[0]
        start = self._reader.position
        text = self._read_word().text
        self._reader.position = start
        return text

    def _read_word(self) -> Word:
        start = self._reader.position
        parts = self._reader.read_unquoted(WORD_END, True)
        return finish_word(parts, self._reader.source[start : self._reader.position])

    def _read_regex(self) -> Word:
        _ = self._peek()
        start = self._reader.position
        parts = self._reader.read_unquoted(" \t\n)", False, regex=True)
        return finish_word(parts, self._reader.source[start : self._reader.position])

    def _or(self) -> Test:
        self._reader.enter()
        tests = [self._and()]
        while self._peek() == "||":
            self._reader.position += 2
            tests.append(self._and())
        self._reader.depth -= 1
        return TestJoin("||", tests) if len(tests) > 1 else tests[0]

    def _and(self) -> Test:
        tests = [self._term()]
        while self._peek() == "&&":
            self._reader.position += 2
            tests.append(self._term())
        return TestJoin("&&", tests) if len(tests) > 1 else tests[0]

    def _term(self) -> Test:
        token = self._peek()
        if token == "!":
            self._reader.position += 1
            self._reader.enter()
            negated = TestNot(self._term())
            self._reader.depth -= 1
            return negated
        if token == "(":
            self._reader.position += 1
            group = TestGroup(self._or())
            if self._peek() != ")":
                raise self._error(f"unexpected token `{self._token_name()}', expected `)'")
            self._reader.position += 1
            return group
        if token == "":
            raise ConditionError("unexpected token `EOF' in conditional command", self._reader.last_line())
        if token in ("]]", "&&", "||", ")", "<", ">", ";", "&", "|"):
            raise self._error("")
        left = self._read_word()
        operator = self._peek()
        if left.text in UNARY and operator not in BINARY and not (operator == "]]" and left.text == "]]"):
            return self._unary(left, operator)
        return self._binary(left, operator)

    def _unary(self, left: Word, argument: str) -> Test:
        if argument in ("]]", "&&", "||", ")", ""):
            raise self._error(f"unexpected argument `{self._token_name()}' to conditional unary operator")
        return TestWord(left.text, self._read_word())

    def _binary(self, left: Word, operator: str) -> Test:
        if operator in ("]]", "&&", "||", ")"):
            return TestWord("", left)
        if operator not in BINARY:
            if operator == "" or self._reader.source[self._reader.position] in ";&|(":
                raise self._error(
                    f"unexpected token `{self._token_name()}', conditional binary operator expected"
                )
            raise self._error("conditional binary operator expected")
        self._reader.position += len(operator)
        if operator == "=~":
            right = self._read_regex()
        else:
            token = self._peek()
            if token in ("]]", "", "&&", "||", ")", "(", "<", ">", ";", "&", "|"):
                raise self._error(
                    f"unexpected argument `{self._token_name()}' to conditional binary operator"
                )
            right = self._read_word()
        if not right.parts:
            raise self._error(f"unexpected argument `{self._token_name()}' to conditional binary operator")
        return TestBinary(operator, left, right)

    def _token_name(self) -> str:
        return self._peek() or "newline"

    def _error(self, message: str) -> ConditionError:
        line = self._reader.line_at(min(self._reader.position, self._reader.end - 1))
        at_end = self._reader.position >= self._reader.end
        return ConditionError(message, line, status=2 if at_end else 0)

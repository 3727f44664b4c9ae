"""What both halves of the parser share: the words, and how a complaint is made.

Loki's parser is a table made by yacc. Its complaint names the word that does not fit, and what would have
fitted if that is not more than four things.
"""

from __future__ import annotations

from typing import Final, NoReturn

from simcloud.golang.regexps import BadRegex
from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.lexer import Word, words
from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.metrics.matchers import Operator

MOST_NESTED: Final = 64
"""Loki has no such limit, but a stack has."""


class Reader:
    """Words, one after the other."""

    def __init__(self, query: str) -> None:
        self._words = words(query)
        self._at = 0
        self._depth = 0

    @property
    def word(self) -> Word:
        """The present one; ``LogqlError`` when it is none."""
        word = self._words[self._at]
        if word.kind == "$error":
            raise LogqlError(word.text, word.line, word.column)
        return word

    @property
    def following(self) -> Word:
        """The one after it."""
        return self._words[min(self._at + 1, len(self._words) - 1)]

    def next(self) -> Word:
        """The present word; the next one becomes the present."""
        word = self.word
        self._at = min(self._at + 1, len(self._words) - 1)
        return word

    def accept(self, kind: str) -> bool:
        """Take a word if it is of this kind."""
        if self.word.kind == kind:
            self.next()
            return True
        return False

    def expect(self, *kinds: str) -> Word:
        """Take a word of one of these kinds."""
        if self.word.kind not in kinds:
            self.unexpected(*kinds)
        return self.next()

    def unexpected(self, *expected: str) -> NoReturn:
        """Complain of the present word."""
        word = self.word
        more = f", expecting {' or '.join(expected)}" if expected else ""
        raise LogqlError(f"syntax error: unexpected {word.kind}{more}", word.line, word.column)

    def deeper(self) -> None:
        """A parenthesis more."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise LogqlError(f"nesting deeper than {MOST_NESTED}", self.word.line, self.word.column)

    def shallower(self) -> None:
        """A parenthesis less."""
        self._depth -= 1

    def matcher(self) -> Matcher:
        """``name="value"``."""
        name = self.expect("IDENTIFIER").text
        sign = self.expect("=", "=~", "!~", "!=").kind
        return make_matcher(name, sign, self.expect("STRING").text)


def make_matcher(name: str, sign: str, value: str) -> Matcher:
    """A condition on a label; ``LogqlError`` when its expression cannot be read."""
    operators: dict[str, Operator] = {"=": "=", "!=": "!=", "=~": "=~", "!~": "!~"}
    try:
        return Matcher(name, operators[sign], value)
    except BadRegex as fault:
        raise LogqlError(str(fault)) from None

"""Reading the inside of ``[[ ... ]]``.

It has a grammar of its own: operators are words, ``<`` and ``(`` are not redirections or subshells, and
what follows ``=~`` is a regular expression with its own idea of parentheses.
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
    """A mistake inside ``[[ ]]``: bash reports it and stops reading, without a further word."""


class TestReader(WordReader):
    """The part of the parser that reads conditional expressions."""

    __test__ = False

    def test_expression(self) -> Test:
        """The expression after ``[[`` up to and including ``]]``."""
        test = self._test_or()
        token = self._test_token()
        if token != "]]":
            known = f": unexpected token `{token}'" if _TOKEN.fullmatch(token) else ""
            raise self._test_error(f"syntax error in conditional expression{known}")
        self.position += 2
        return test

    def _test_token(self) -> str:
        """The operator or word at the position, without taking it; "" at the end of the text."""
        match = _BLANKS.match(self.source, self.position)
        assert match is not None
        self.position = match.end()
        if self.position >= self.end:
            return ""
        operator = _TOKEN.match(self.source, self.position)
        if operator:
            return operator[0]
        start = self.position
        text = self._test_word().text
        self.position = start
        return text

    def _test_word(self) -> Word:
        start = self.position
        parts = self.unquoted_parts(WORD_END, True)
        return finish_word(parts, self.source[start : self.position])

    def _regex_word(self) -> Word:
        _ = self._test_token()
        start = self.position
        parts = self.unquoted_parts(" \t\n)", False, regex=True)
        return finish_word(parts, self.source[start : self.position])

    def _test_or(self) -> Test:
        self.enter()
        tests = [self._test_and()]
        while self._test_token() == "||":
            self.position += 2
            tests.append(self._test_and())
        self.depth -= 1
        return TestJoin("||", tests) if len(tests) > 1 else tests[0]

    def _test_and(self) -> Test:
        tests = [self._test_term()]
        while self._test_token() == "&&":
            self.position += 2
            tests.append(self._test_term())
        return TestJoin("&&", tests) if len(tests) > 1 else tests[0]

    def _test_term(self) -> Test:
        token = self._test_token()
        if token == "!":
            self.position += 1
            self.enter()
            negated = TestNot(self._test_term())
            self.depth -= 1
            return negated
        if token == "(":
            self.position += 1
            group = TestGroup(self._test_or())
            if self._test_token() != ")":
                raise self._test_error(f"unexpected token `{self._named()}', expected `)'")
            self.position += 1
            return group
        if token == "":
            raise ConditionError("unexpected token `EOF' in conditional command", self.last_line())
        if token in ("]]", "&&", "||", ")", "<", ">", ";", "&", "|"):
            raise self._test_error("")
        left = self._test_word()
        operator = self._test_token()
        if left.text in UNARY and operator not in BINARY and not (operator == "]]" and left.text == "]]"):
            return self._unary(left, operator)
        return self._binary(left, operator)

    def _unary(self, left: Word, argument: str) -> Test:
        if argument in ("]]", "&&", "||", ")", ""):
            raise self._test_error(f"unexpected argument `{self._named()}' to conditional unary operator")
        return TestWord(left.text, self._test_word())

    def _binary(self, left: Word, operator: str) -> Test:
        if operator in ("]]", "&&", "||", ")"):
            return TestWord("", left)
        if operator not in BINARY:
            if operator == "" or self.source[self.position] in ";&|(":
                raise self._test_error(
                    f"unexpected token `{self._named()}', conditional binary operator expected"
                )
            raise self._test_error("conditional binary operator expected")
        self.position += len(operator)
        if operator == "=~":
            right = self._regex_word()
        else:
            token = self._test_token()
            if token in ("]]", "", "&&", "||", ")", "(", "<", ">", ";", "&", "|"):
                raise self._test_error(
                    f"unexpected argument `{self._named()}' to conditional binary operator"
                )
            right = self._test_word()
        if not right.parts:
            raise self._test_error(f"unexpected argument `{self._named()}' to conditional binary operator")
        return TestBinary(operator, left, right)

    def _named(self) -> str:
        return self._test_token() or "newline"

    def _test_error(self, message: str) -> ConditionError:
        line = self.line_at(min(self.position, self.end - 1))
        at_end = self.position >= self.end
        return ConditionError(message, line, status=2 if at_end else 0)

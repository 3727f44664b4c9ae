"""The expression of find: tests and actions joined by ``!``, ``-a``, ``-o`` and ``,`` and parentheses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simcloud.userland.commands.file.find.actions import ACTIONS, printer
from simcloud.userland.commands.file.find.search import Found, Search, Test
from simcloud.userland.commands.file.find.tests import TESTS
from simcloud.userland.commands.file.find.times import newer
from simcloud.userland.commands.file.find.words import Words

AND: Final = ("-a", "-and")
OR: Final = ("-o", "-or")
NOT: Final = ("!", "-not")
MAX_DEPTH: Final = 60
"""Maximum nesting of parentheses and negations."""

ACTING: Final = frozenset(ACTIONS) - {"-prune"}
"""Actions that disable the default ``-print``."""


def read_expression(search: Search, words: list[str]) -> Test:
    """The whole expression as one test; it prints when nothing else in it acts."""
    reader = _Reader(search, Words(search, words))
    test = reader.whole()
    return test if reader.acts else _all([test, printer(search, "\n")])


class _Reader:
    def __init__(self, search: Search, words: Words) -> None:
        self._search = search
        self._words = words
        self._depth = 0
        self.acts = False

    def whole(self) -> Test:
        if self._words.peek() is None:
            return _always
        test = self._list()
        if self._words.peek() is not None:
            raise self._search.mistake("you have too many ')'")
        return test

    def _list(self) -> Test:
        tests = [self._either()]
        while self._words.peek() == ",":
            self._words.take()
            self._need_operand(",")
            tests.append(self._either())
        return tests[0] if len(tests) == 1 else _each(tests)

    def _either(self) -> Test:
        tests = [self._both()]
        while (word := self._words.peek()) in OR:
            self._words.take()
            self._need_operand(str(word))
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else _any(tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while (word := self._words.peek()) is not None and word not in (*OR, ")", ","):
            if word in AND:
                self._words.take()
                self._need_operand(word)
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else _all(tests)

    def _need_operand(self, operator: str) -> None:
        if self._words.peek() is None:
            raise self._search.mistake(f"expected an expression after '{operator}'")

    def _one(self) -> Test:
        word = self._words.take()
        if word in (*AND, *OR, ","):
            raise self._search.mistake(
                f"invalid expression; you have used a binary operator '{word}' with nothing before it."
            )
        if word in NOT:
            self._need_operand(word)
            return self._nest(lambda: _not(self._one()))
        if word == "(":
            return self._nest(self._parenthesis)
        if word == ")":
            raise self._search.mistake("invalid expression; you have too many ')'")
        return self._primary(word)

    def _nest(self, read: Callable[[], Test]) -> Test:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._search.mistake("limit exceeded: the expression is nested too deeply")
        test = read()
        self._depth -= 1
        return test

    def _parenthesis(self) -> Test:
        if self._words.peek() == ")":
            raise self._search.mistake("invalid expression; empty parentheses are not allowed.")
        if self._words.peek() is None:
            raise self._missing_parenthesis()
        test = self._list()
        if self._words.peek() != ")":
            raise self._missing_parenthesis()
        self._words.take()
        return test

    def _missing_parenthesis(self) -> Exception:
        return self._search.mistake(
            "invalid expression; I was expecting to find a ')' somewhere but did not see one."
        )

    def _primary(self, word: str) -> Test:
        if word in ACTIONS:
            self.acts = self.acts or word in ACTING
            return ACTIONS[word](self._search, self._words)
        if word in TESTS:
            return _plain(TESTS[word](self._search, self._words))
        if word.startswith("-newer") and len(word) == len("-newerXY"):
            return _plain(newer(self._search, self._words, word[-2], word[-1]))
        if word.startswith("-"):
            raise self._search.mistake(f"unknown predicate `{word}'")
        raise self._search.mistake(f"paths must precede expression: `{word}'")


async def _always(found: Found) -> bool:
    return True


def _plain(condition: Callable[[Found], bool]) -> Test:
    async def test(found: Found) -> bool:
        return condition(found)

    return test


def _all(tests: list[Test]) -> Test:
    async def test(found: Found) -> bool:
        for each in tests:
            if not await each(found):
                return False
        return True

    return test


def _any(tests: list[Test]) -> Test:
    async def test(found: Found) -> bool:
        for each in tests:
            if await each(found):
                return True
        return False

    return test


def _each(tests: list[Test]) -> Test:
    """All of them, whatever they answer; the last answer counts."""

    async def test(found: Found) -> bool:
        answer = False
        for each in tests:
            answer = await each(found)
        return answer

    return test


def _not(one: Test) -> Test:
    async def test(found: Found) -> bool:
        return not await one(found)

    return test

"""``expr``: arithmetic, comparisons and string matching on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from simcloud.machine.process import Context
from simcloud.patterns import RegexError, TooMuchWorkError, compile_regex
from simcloud.userland.commands.registry import command
from simcloud.userland.commands.text.quoting import quote
from simcloud.userland.commands.text.tool import COREUTILS, fail, misuse

_INVALID = 2
_MAX_DIGITS = 4000
_MAX_DEPTH = 200

Value = str | int


@command("expr")
async def expr(ctx: Context) -> int:
    """Evaluate an expression and write its value."""
    words = ctx.args[1:]
    if words == ["--help"]:
        await ctx.out(f"Usage: {ctx.args[0]} EXPRESSION\nEvaluate an expression and write its value.\n")
        return 0
    if words == ["--version"]:
        await ctx.out(f"expr {COREUTILS}\n")
        return 0
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        misuse(ctx, "missing operand", _INVALID)
    evaluation = _Evaluation(ctx, words)
    value = evaluation.whole()
    await ctx.out(f"{value}\n")
    return 1 if _is_null(value) else 0


def _is_null(value: Value) -> bool:
    """Empty or zero, however zero is written."""
    if isinstance(value, int):
        return value == 0
    digits = value.removeprefix("-")
    return not value or (bool(digits) and not digits.strip("0"))


class _Evaluation:
    """Evaluates words from left to right; parts that the result does not need are parsed only."""

    def __init__(self, ctx: Context, words: list[str]) -> None:
        self._ctx = ctx
        self._words = words
        self._at = 0
        self._depth = 0

    def whole(self) -> Value:
        value = self._or(True)
        if self._at < len(self._words):
            self._fail(f"syntax error: unexpected argument {quote(self._words[self._at])}")
        return value

    def _fail(self, message: str) -> NoReturn:
        fail(self._ctx, message, _INVALID)

    def _peek(self, *words: str) -> str:
        """The next word if it is one of these."""
        if self._at < len(self._words) and self._words[self._at] in words:
            return self._words[self._at]
        return ""

    def _take(self, *words: str) -> str:
        found = self._peek(*words)
        if found:
            self._at += 1
        return found

    def _next(self) -> str:
        if self._at == len(self._words):
            self._fail(f"syntax error: missing argument after {quote(self._words[-1])}")
        self._at += 1
        return self._words[self._at - 1]

    def _or(self, wanted: bool) -> Value:
        left = self._and(wanted)
        while self._take("|"):
            right = self._and(wanted and _is_null(left))
            if _is_null(left):
                left = 0 if _is_null(right) else right
        return left

    def _and(self, wanted: bool) -> Value:
        left = self._comparison(wanted)
        while self._take("&"):
            right = self._comparison(wanted and not _is_null(left))
            if _is_null(left) or _is_null(right):
                left = 0
        return left

    def _comparison(self, wanted: bool) -> Value:
        left = self._sum(wanted)
        while operator := self._take("<", "<=", "=", "==", "!=", ">=", ">"):
            right = self._sum(wanted)
            if wanted:
                left = int(_compare(operator, left, right))
        return left

    def _sum(self, wanted: bool) -> Value:
        left = self._product(wanted)
        while operator := self._take("+", "-"):
            right = self._product(wanted)
            if wanted:
                one, other = self._number(left), self._number(right)
                left = one + other if operator == "+" else one - other
        return left

    def _product(self, wanted: bool) -> Value:
        left = self._match(wanted)
        while operator := self._take("*", "/", "%"):
            right = self._match(wanted)
            if not wanted:
                continue
            one, other = self._number(left), self._number(right)
            if operator == "*":
                left = one * other
                self._ctx.spend_bytes(left.bit_length() // 8)
            elif other == 0:
                self._fail("division by zero")
            else:
                quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
                left = quotient if operator == "/" else one - quotient * other
        return left

    def _match(self, wanted: bool) -> Value:
        left = self._term(wanted)
        while self._take(":"):
            right = self._term(wanted)
            if wanted:
                left = self._match_prefix(str(left), str(right))
        return left

    def _term(self, wanted: bool) -> Value:
        self._ctx.spend_turn()
        if self._take("+"):
            return self._next()
        functions: dict[str, Callable[[bool], Value]] = {
            "length": self._length,
            "match": self._match_function,
            "index": self._index,
            "substr": self._substr,
        }
        name = self._take(*functions)
        if name:
            return functions[name](wanted)
        if self._take("("):
            return self._group(wanted)
        word = self._next()
        if word == ")":
            self._fail("syntax error: unexpected ')'")
        return word

    def _group(self, wanted: bool) -> Value:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail("memory exhausted")
        value = self._or(wanted)
        self._depth -= 1
        if self._at == len(self._words):
            self._fail(f"syntax error: expecting ')' after {quote(self._words[-1])}")
        if not self._take(")"):
            self._fail(f"syntax error: expecting ')' instead of {quote(self._words[self._at])}")
        return value

    def _length(self, wanted: bool) -> Value:
        return len(_bytes(self._term(wanted)))

    def _match_function(self, wanted: bool) -> Value:
        text, pattern = self._term(wanted), self._term(wanted)
        return self._match_prefix(str(text), str(pattern)) if wanted else 0

    def _index(self, wanted: bool) -> Value:
        text, letters = _bytes(self._term(wanted)), _bytes(self._term(wanted))
        return next((place + 1 for place, byte in enumerate(text) if byte in letters), 0)

    def _substr(self, wanted: bool) -> Value:
        text = _bytes(self._term(wanted))
        position, length = _integer(self._term(wanted)), _integer(self._term(wanted))
        if position is None or length is None or position <= 0 or length <= 0:
            return ""
        return text[position - 1 :][:length].decode("utf-8", "surrogateescape")

    def _number(self, value: Value) -> int:
        number = _integer(value)
        if number is None:
            fail(self._ctx, "non-integer argument", _INVALID)
        return number

    def _match_prefix(self, text: str, pattern: str) -> Value:
        """Return the text of the first group, or the number of bytes that match from the beginning."""
        try:
            regex = compile_regex(_bytes(pattern), "basic", utf8=False)
            found = regex.search(_bytes(text))
        except RegexError as error:
            fail(self._ctx, str(error), _INVALID)
        except TooMuchWorkError:
            fail(self._ctx, "Memory exhausted", 3)
        if found is not None and found.span()[0] != 0:
            found = None
        if regex.groups:
            group = found.group(1) if found is not None else None
            return (group or b"").decode("utf-8", "surrogateescape")
        return found.span()[1] if found is not None else 0


def _bytes(value: Value) -> bytes:
    return str(value).encode("utf-8", "surrogateescape")


def _integer(value: Value) -> int | None:
    if isinstance(value, int):
        return value
    digits = value.removeprefix("-")
    return int(value) if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_DIGITS else None


def _compare(operator: str, left: Value, right: Value) -> bool:
    """As numbers if both are, as text otherwise."""
    one, other = _integer(left), _integer(right)
    difference: int
    if one is not None and other is not None:
        difference = (one > other) - (one < other)
    else:
        difference = (_bytes(left) > _bytes(right)) - (_bytes(left) < _bytes(right))
    return {
        "<": difference < 0,
        "<=": difference <= 0,
        "=": difference == 0,
        "==": difference == 0,
        "!=": difference != 0,
        ">=": difference >= 0,
        ">": difference > 0,
    }[operator]

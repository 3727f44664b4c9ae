"""Shell arithmetic: 64-bit integers that wrap, C's operators, variables by name.

An expression is evaluated while it is read, as bash does, because that decides which part of it an
error message quotes. Only the split into tokens is remembered between evaluations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol

MAX_RECURSION: Final = 64
"""Maximum nesting of expressions: brackets, right-associative operators, variables with expressions."""

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9][0-9A-Za-z@_#]*)"
    r"|(?P<operator>\*\*|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&^|]=|[-+*/%&^|<>=!~?:,()])"
    r"|(?P<other>.))",
    re.DOTALL,
)
_BINARY: Final = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
_ASSIGNMENTS: Final = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="))
_DIGITS: Final = {
    digit: value
    for value, digit in enumerate("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_")
}


class ArithmeticError_(Exception):  # noqa: N801 - the builtin ArithmeticError means something else
    """The expression is invalid; the message is bash's, without the command's name."""


class Unbound(Exception):
    """A variable without a value was read while ``set -u`` is on."""


class Variables(Protocol):
    """Gives an expression access to variables."""

    def read_number(self, name: str, subscript: str | None) -> str:
        """The text of a variable, empty when it has none."""

    def write_number(self, name: str, subscript: str | None, value: int) -> None:
        """Assign to a variable."""


def wrap(value: int) -> int:
    """As 64 bits hold it."""
    return (value + 0x8000_0000_0000_0000 & 0xFFFF_FFFF_FFFF_FFFF) - 0x8000_0000_0000_0000


def evaluate(expression: str, variables: Variables, level: int = 0) -> int:
    """The value of an expression; an empty one is 0."""
    stripped = expression.strip()
    if stripped.isdigit() and (stripped[0] != "0" or stripped == "0") and len(stripped) < 19:
        return int(stripped)
    if not stripped:
        return 0
    if level > MAX_RECURSION:
        raise ArithmeticError_(
            f'{expression}: expression recursion level exceeded (error token is "{stripped}")'
        )
    return _Evaluator(expression, variables, level).run()


Token = tuple[str, str, int, "str | None"]
"""Kind, text, where it starts, and a name's subscript."""


@lru_cache(maxsize=4096)
def _tokens(expression: str) -> tuple[Token, ...]:
    tokens: list[Token] = []
    position = 0
    end = len(expression.rstrip())
    while position < end:
        match = _TOKEN.match(expression, position)
        assert match is not None
        kind = match.lastgroup or ""
        start, position = match.start(kind), match.end()
        subscript = None
        if kind == "name" and expression.startswith("[", position):
            closing = _closing_bracket(expression, position)
            if closing < 0:
                rest = expression[start:]
                raise ArithmeticError_(
                    f'{expression.lstrip()}: bad array subscript (error token is "{rest}")'
                )
            subscript = expression[position + 1 : closing]
            position = closing + 1
        text = match[kind]
        if text in ("++", "--") and not _is_step(tokens, expression, position):
            text, position = text[0], position - 1
        tokens.append((kind, text, start, subscript))
    tokens.append(("end", "", end, None))
    return tuple(tokens)


def _is_step(before: list[Token], expression: str, position: int) -> bool:
    """Whether ``++`` or ``--`` belongs to a variable next to it, and is not just two signs."""
    if before and before[-1][0] == "name":
        return True
    following = expression[position:].lstrip()[:1]
    return following.isalpha() or following == "_"


def _closing_bracket(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] == "[") - (text[position] == "]")
        if depth == 0:
            return position
    return -1


class _Evaluator:
    def __init__(self, expression: str, variables: Variables, level: int) -> None:
        self.expression = expression
        self.variables = variables
        self.level = level
        self.tokens = _tokens(expression)
        self.index = 0
        self.skipping = 0
        self.place: tuple[str, str | None] | None = None
        """The variable just read, while it may still be assigned to."""

    def run(self) -> int:
        value = self.comma()
        kind = self.tokens[self.index][0]
        if kind == "other":
            raise self.error("syntax error: invalid arithmetic operator")
        if kind != "end":
            raise self.error("syntax error in expression")
        return value

    def error(self, message: str, index: int | None = None) -> ArithmeticError_:
        at = self.index if index is None else index
        if self.tokens[at][0] == "end" and at:
            at -= 1  # bash still points at the last thing it read
        rest = self.expression[self.tokens[at][2] :]
        return ArithmeticError_(f'{self.expression.lstrip()}: {message} (error token is "{rest}")')

    def nest(self, part: Callable[[], int]) -> int:
        """Read a part that may hold another of its kind."""
        self.level += 1
        if self.level > MAX_RECURSION:
            raise self.error("expression recursion level exceeded")
        value = part()
        self.level -= 1
        return value

    def comma(self) -> int:
        value = self.assignment()
        while self.tokens[self.index][1] == ",":
            self.index += 1
            value = self.assignment()
        return value

    def assignment(self) -> int:
        value = self.conditional()
        operator = self.tokens[self.index][1]
        if operator not in _ASSIGNMENTS:
            return value
        place = self.place
        if place is None:
            raise self.error("attempted assignment to non-variable")
        self.index += 1
        start = self.index
        right = self.nest(self.assignment)
        if operator != "=":
            right = self.apply(operator[:-1], value, right, start)
        if not self.skipping:
            self.variables.write_number(place[0], place[1], right)
        self.place = None
        return right

    def conditional(self) -> int:
        value = self.binary(1)
        if self.tokens[self.index][1] != "?":
            return value
        self.index += 1
        if self.tokens[self.index][1] in (":", ""):
            raise self.error("expression expected")
        self.skipping += not value
        first = self.nest(self.comma)
        self.skipping -= not value
        if self.tokens[self.index][1] != ":":
            raise self.error("`:' expected for conditional expression")
        self.index += 1
        if self.tokens[self.index][0] == "end":
            raise self.error("expression expected")
        self.skipping += bool(value)
        second = self.nest(self.conditional)
        self.skipping -= bool(value)
        self.place = None
        return first if value else second

    def binary(self, minimum: int) -> int:
        value = self.unary()
        while (precedence := _BINARY.get(self.tokens[self.index][1], 0)) >= minimum:
            operator = self.tokens[self.index][1]
            self.index += 1
            start = self.index
            if operator in ("&&", "||"):
                decided = bool(value) is (operator == "||")
                self.skipping += decided
                right = self.binary(precedence + 1)
                self.skipping -= decided
                value = (
                    int(bool(value) or bool(right)) if operator == "||" else int(bool(value) and bool(right))
                )
            else:
                right = self.nest(self.power) if operator == "**" else self.binary(precedence + 1)
                value = self.apply(operator, value, right, start)
            self.place = None
        return value

    def power(self) -> int:
        return self.binary(_BINARY["**"])

    def apply(self, operator: str, left: int, right: int, start: int) -> int:
        if operator in ("/", "%"):
            if right == 0:
                if self.skipping:
                    return 0
                raise self.error("division by 0", start)
            quotient = abs(left) // abs(right)
            if (left < 0) != (right < 0):
                quotient = -quotient
            return wrap(quotient if operator == "/" else left - quotient * right)
        if operator == "**":
            if right < 0:
                raise self.error("exponent less than 0")
            return wrap(pow(left, right, 1 << 64))
        return _OPERATIONS[operator](left, right)

    def unary(self) -> int:
        kind, text, _, _ = self.tokens[self.index]
        if kind != "operator":
            return self.primary()
        if text in ("++", "--") and self.tokens[self.index + 1][0] == "name":
            self.index += 1
            return self.step(1 if text == "++" else -1, before=True)
        if text in ("!", "~", "-", "+"):
            self.index += 1
            value = self.nest(self.unary)
            self.place = None
            if text == "!":
                return int(not value)
            return wrap(-value if text == "-" else ~value if text == "~" else value)
        return self.primary()

    def step(self, change: int, before: bool) -> int:
        _, name, _, subscript = self.tokens[self.index]
        self.index += 1
        old = self.value_of(name, subscript)
        new = wrap(old + change)
        if not self.skipping:
            self.variables.write_number(name, subscript, new)
        self.place = None
        return new if before else old

    def primary(self) -> int:
        kind, text, _, subscript = self.tokens[self.index]
        self.place = None
        if kind == "number":
            value = self.number(text)
            self.index += 1
            return value
        if kind == "name":
            following = self.tokens[self.index + 1][1]
            if following in ("++", "--"):
                value = self.step(1 if following == "++" else -1, before=False)
                self.index += 1
                return value
            self.index += 1
            # A plain assignment does not look at what the variable held.
            value = 0 if following == "=" else self.value_of(text, subscript)
            self.place = (text, subscript)
            return value
        if text == "(":
            self.index += 1
            value = self.nest(self.comma)
            if self.tokens[self.index][1] != ")":
                raise self.error("missing `)'")
            self.index += 1
            self.place = None
            return value
        raise self.error("syntax error: operand expected")

    def value_of(self, name: str, subscript: str | None) -> int:
        if self.skipping:
            return 0
        text = self.variables.read_number(name, subscript)
        return evaluate(text, self.variables, self.level + 1) if text else 0

    def number(self, text: str) -> int:
        base, digits = 10, text
        if "#" in text:
            prefix, _, digits = text.partition("#")
            if not prefix.isdigit() or not 2 <= int(prefix[:9]) <= 64:
                raise self.bad_number("invalid arithmetic base")
            base = int(prefix)
            if not digits:
                raise self.bad_number("invalid integer constant")
        elif text[:2] in ("0x", "0X"):
            base, digits = 16, text[2:]
        elif text[0] == "0" and len(text) > 1:
            base, digits = 8, text[1:]
        value = 0
        for digit in digits:
            weight = _DIGITS.get(digit.lower() if base <= 36 else digit)
            if weight is None:
                raise self.bad_number("invalid number")
            if weight >= base:
                raise self.bad_number("value too great for base")
            value = value * base + weight & 0xFFFF_FFFF_FFFF_FFFF
        return wrap(value)

    def bad_number(self, message: str) -> ArithmeticError_:
        """Bash has not looked beyond a number when it finds fault with it."""
        _, text, start, _ = self.tokens[self.index]
        read = self.expression[: start + len(text)].lstrip()
        return ArithmeticError_(f'{read}: {message} (error token is "{text}")')


_OPERATIONS: Final[dict[str, Callable[[int, int], int]]] = {
    "|": lambda left, right: left | right,
    "^": lambda left, right: left ^ right,
    "&": lambda left, right: left & right,
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    ">": lambda left, right: int(left > right),
    "<=": lambda left, right: int(left <= right),
    ">=": lambda left, right: int(left >= right),
    "<<": lambda left, right: wrap(left << (right & 63)),
    ">>": lambda left, right: left >> (right & 63),
    "+": lambda left, right: wrap(left + right),
    "-": lambda left, right: wrap(left - right),
    "*": lambda left, right: wrap(left * right),
}

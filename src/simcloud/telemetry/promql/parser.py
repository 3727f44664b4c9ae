"""The parser of PromQL.

Operators are parsed by precedence climbing, the rest by recursive descent. A syntax error is raised at once, with
Prometheus' message; types are checked after parsing (``checks.py``).
"""

from __future__ import annotations

import math
from typing import Final

from simcloud.golang import BadRegex, quote
from simcloud.telemetry.metrics import Matcher
from simcloud.telemetry.metrics.matchers import Operator
from simcloud.telemetry.metrics.series import NAME
from simcloud.telemetry.promql.checks import DEEPEST, TOO_DEEP, check
from simcloud.telemetry.promql.errors import ParseError
from simcloud.telemetry.promql.lexer import AGGREGATORS, KEYWORDS, WORD_OPERATORS, Lexer, Token
from simcloud.telemetry.promql.nodes import (
    Aggregate,
    Binary,
    Call,
    Matching,
    Matrix,
    Node,
    Number,
    Paren,
    Selector,
    Subquery,
    Text,
    Timed,
    Unary,
)
from simcloud.telemetry.promql.numbers import parse_duration_ms, parse_number, unquote
from simcloud.telemetry.promql.signatures import FUNCTIONS

_PRECEDENCE: Final = {
    "or": 1, "and": 2, "unless": 2,
    "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
    "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "atan2": 5, "^": 6,
}  # fmt: skip
_UNARY: Final = 5
_WITH_PARAMETER: Final = frozenset({"topk", "bottomk", "quantile", "count_values"})
# Words that have a meaning of their own elsewhere and are a metric's name where one is expected.
_NAMES: Final = AGGREGATORS | {"and", "or", "unless", "by", "without", "offset", "start", "end"}
_LABELS: Final = AGGREGATORS | KEYWORDS | WORD_OPERATORS | {"start", "end", "identifier"}
_MATCH_OPERATORS: Final[dict[str, Operator]] = {"=": "=", "!=": "!=", "=~": "=~", "!~": "!~"}
_LARGEST_MS: Final = 2**63 / 1000


def parse(query: str) -> Node:
    """Parse a query. Raise ``ParseError``."""
    reader = _Reader(query)
    node = reader.whole()
    check(query, node)
    return node


def parse_selector(query: str) -> tuple[Matcher, ...]:
    """Return the conditions of a query that is only a selector (as in ``match[]``)."""
    reader = _Reader(query)
    node = reader.selector()
    reader.expect_end()
    return node.matchers


class _Reader:
    def __init__(self, query: str) -> None:
        self._query = query
        self._lexer = Lexer(query)
        self._token = self._lexer.next()
        self._last_end = 0
        self._depth = 0

    def whole(self) -> Node:
        if self._token.kind == "EOF":
            raise self._error(0, "no expression found in input")
        node = self._expression(0)
        self.expect_end()
        return node

    def expect_end(self) -> None:
        if self._token.kind != "EOF":
            raise self._make_error()

    def _expression(self, least: int) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._error(self._token.start, TOO_DEEP)
        left = self._operand()
        while (precedence := _PRECEDENCE.get(self._token.kind, 0)) > least:
            operator = self._take()
            matching, returns_bool = self._modifiers()
            right = self._expression(precedence - 1 if operator.kind == "^" else precedence)
            left = Binary(
                left.start, right.end, operator.kind, left, right, matching, returns_bool, operator.start
            )
        self._depth -= 1
        return left

    def _operand(self) -> Node:
        token = self._token
        if token.kind in ("+", "-"):
            self._take()
            inner = self._expression(_UNARY)
            if isinstance(inner, Number):
                inner.value = -inner.value if token.kind == "-" else inner.value
                inner.start = token.start
                return inner
            return Unary(token.start, inner.end, token.kind, inner)
        return self._suffixes(self._atom())

    def _suffixes(self, node: Node) -> Node:
        while True:
            match self._token.kind:
                case "[":
                    node = self._parse_range(node)
                case "offset":
                    self._offset(node)
                case "@":
                    self._at(node)
                case _:
                    return node

    def _atom(self) -> Node:
        token = self._token
        match token.kind:
            case "number":
                return Number(token.start, token.end, self._number())
            case "string":
                self._take()
                return Text(token.start, token.end, unquote(token.text))
            case "(":
                self._take()
                inner = self._expression(0)
                self._expect(")")
                return Paren(token.start, self._last_end, inner)
            case "{":
                return self.selector()
            case "identifier" | "metric identifier":
                self._take()
                if self._token.kind == "(" and token.kind == "identifier":
                    return self._call(token)
                return self._parse_named_selector(token)
            case kind if kind in AGGREGATORS:
                self._take()
                if self._token.kind in ("(", "by", "without"):
                    return self._aggregate(token)
                return self._parse_named_selector(token)
            case kind if kind in _NAMES:
                self._take()
                return self._parse_named_selector(token)
        raise self._make_error()

    def selector(self) -> Selector:
        """Parse a selector."""
        if self._token.kind == "{":
            start = self._token.start
            matchers = self._label_matchers()
            return Selector(start, self._last_end, "", matchers)
        if self._token.kind in _NAMES or self._token.kind in ("identifier", "metric identifier"):
            return self._parse_named_selector(self._take())
        raise self._make_error()

    def _parse_named_selector(self, name: Token) -> Selector:
        matchers = self._label_matchers() if self._token.kind == "{" else ()
        return Selector(name.start, self._last_end, name.text, (*matchers, Matcher(NAME, "=", name.text)))

    def _label_matchers(self) -> tuple[Matcher, ...]:
        self._take()
        matchers: list[Matcher] = []
        while self._token.kind != "}":
            if matchers:
                if self._token.kind != ",":
                    raise self._make_error("label matching", '"," or "}"')
                self._take()
                if self._token.kind == "}":
                    break
            matchers.append(self._label_matcher())
        self._take()
        return tuple(matchers)

    def _label_matcher(self) -> Matcher:
        if self._token.kind != "identifier":
            raise self._make_error("label matching", 'identifier or "}"')
        name = self._take()
        operator = _MATCH_OPERATORS.get(self._token.kind)
        if operator is None:
            raise self._make_error("label matching", "label matching operator")
        self._take()
        if self._token.kind != "string":
            raise self._make_error("label matching", "string")
        value = self._take()
        try:
            return Matcher(name.text, operator, unquote(value.text))
        except BadRegex as fault:
            raise self._error(name.start, str(fault)) from None

    def _call(self, name: Token) -> Call:
        function = FUNCTIONS.get(name.text)
        if function is None:
            raise self._error(name.start, f"unknown function with name {quote(name.text)}")
        arguments = self._arguments()
        return Call(name.start, self._last_end, function, arguments)

    def _arguments(self) -> list[Node]:
        self._expect("(")
        arguments: list[Node] = []
        while self._token.kind != ")":
            if arguments:
                comma = self._expect(",")
                if self._token.kind == ")":
                    raise self._error(comma.start, "trailing commas not allowed in function call args")
            arguments.append(self._expression(0))
        self._take()
        return arguments

    def _aggregate(self, operator: Token) -> Aggregate:
        labels: tuple[str, ...] | None = None
        without = self._token.kind == "without"
        if self._token.kind in ("by", "without"):
            self._take()
            labels = self._grouping()
        arguments = self._arguments()
        if labels is None and self._token.kind in ("by", "without"):
            without = self._take().kind == "without"
            labels = self._grouping()
        wanted = 2 if operator.kind in _WITH_PARAMETER else 1
        if not arguments:
            raise self._error(operator.start, "no arguments for aggregate expression provided")
        if len(arguments) != wanted:
            message = "wrong number of arguments for aggregate expression provided"
            raise self._error(operator.start, f"{message}, expected {wanted}, got {len(arguments)}")
        parameter = arguments[0] if wanted == 2 else None
        return Aggregate(
            operator.start, self._last_end, operator.kind, arguments[-1], parameter, labels or (), without
        )

    def _grouping(self) -> tuple[str, ...]:
        if self._token.kind != "(":
            raise self._make_error("grouping opts", '"("')
        self._take()
        labels: list[str] = []
        while self._token.kind != ")":
            if labels:
                if self._token.kind != ",":
                    raise self._make_error("grouping opts", '"," or ")"')
                self._take()
                if self._token.kind == ")":
                    break
            if self._token.kind not in _LABELS:
                raise self._make_error("grouping opts", "label")
            labels.append(self._take().text)
        self._take()
        return tuple(labels)

    def _modifiers(self) -> tuple[Matching, bool]:
        matching = Matching()
        returns_bool = self._token.kind == "bool"
        if returns_bool:
            self._take()
        if self._token.kind in ("on", "ignoring"):
            matching.on = self._take().kind == "on"
            matching.labels = self._grouping()
            if self._token.kind in ("group_left", "group_right"):
                left = self._take().kind == "group_left"
                matching.cardinality = "many-to-one" if left else "one-to-many"
                if self._token.kind == "(":
                    matching.include = self._grouping()
        return matching, returns_bool

    def _parse_range(self, node: Node) -> Node:
        bracket = self._take()
        if self._token.kind != "duration":
            raise self._make_error("subquery selector", "duration")
        range_ms = self._duration()
        if self._token.kind == ":":
            self._take()
            step_ms = 0
            if self._token.kind == "duration":
                step_ms = self._duration()
                if self._token.kind != "]":
                    raise self._make_error("subquery selector", '"]"')
            elif self._token.kind != "]":
                raise self._make_error("subquery selector", 'duration or "]"')
            self._take()
            return Subquery(node.start, self._last_end, node, range_ms, step_ms)
        if self._token.kind != "]":
            raise self._make_error("subquery or range", '":" or "]"')
        self._take()
        if not isinstance(node, Selector):
            raise self._error(bracket.start, "ranges only allowed for vector selectors")
        if node.has_offset:
            raise self._error(bracket.start, "no offset modifiers allowed before range")
        if node.at is not None:
            raise self._error(bracket.start, "no @ modifiers allowed before range")
        return Matrix(node.start, self._last_end, node, range_ms)

    def _offset(self, node: Node) -> None:
        self._take()
        sign = 1
        if self._token.kind == "-":
            self._take()
            sign = -1
        if self._token.kind != "duration":
            raise self._make_error("offset", "duration")
        offset_ms = sign * self._duration()
        timed = self._add_time(node, "offset modifier")
        if timed.has_offset:
            raise self._error(node.start, "offset may not be set multiple times")
        timed.offset_ms, timed.has_offset = offset_ms, True
        node.end = self._last_end

    def _at(self, node: Node) -> None:
        self._take()
        if self._token.kind in ("start", "end"):
            which = self._take().kind
            for mark in "()":
                if self._token.kind != mark:
                    raise self._make_error("@", "timestamp")
                self._take()
            timed = self._add_time(node, "@ modifier")
            if timed.at is not None:
                raise self._error(node.start, "@ <timestamp> may not be set multiple times")
            timed.at = "start" if which == "start" else "end"
        else:
            seconds = self._timestamp()
            timed = self._add_time(node, "@ modifier")
            if timed.at is not None:
                raise self._error(node.start, "@ <timestamp> may not be set multiple times")
            if not abs(seconds) < _LARGEST_MS:
                shown = (
                    f"{seconds:.6f}"
                    if math.isfinite(seconds)
                    else {math.inf: "+Inf", -math.inf: "-Inf"}.get(seconds, "NaN")
                )
                raise self._error(node.start, f"timestamp out of bounds for @ modifier: {shown}")
            timed.at = _round_ms(seconds)
        node.end = self._last_end

    def _timestamp(self) -> float:
        sign = 1.0
        if self._token.kind in ("+", "-"):
            sign = -1.0 if self._take().kind == "-" else 1.0
        if self._token.kind != "number":
            raise self._make_error("@", "timestamp")
        return sign * self._number()

    def _add_time(self, node: Node, what: str) -> Timed:
        if isinstance(node, Matrix):
            return node.selector
        if isinstance(node, Timed):
            return node
        whom = "an instant vector selector or range vector selector or a subquery"
        raise self._error(node.start, f"{what} must be preceded by {whom}")

    def _number(self) -> float:
        token = self._take()
        try:
            return parse_number(token.text)
        except ValueError as fault:
            raise self._error(token.start, f"error parsing number: {fault}") from None

    def _duration(self) -> int:
        token = self._take()
        try:
            duration_ms = parse_duration_ms(token.text)
        except ValueError as fault:
            raise self._error(token.start, str(fault)) from None
        if not duration_ms:
            raise self._error(token.start, "duration must be greater than 0")
        return duration_ms

    def _take(self) -> Token:
        token = self._token
        self._last_end = token.end
        self._token = self._lexer.next()
        return token

    def _expect(self, kind: str) -> Token:
        if self._token.kind != kind:
            raise self._make_error()
        return self._take()

    def _make_error(self, context: str = "", expected: str = "") -> ParseError:
        message = f"unexpected {self._token.describe()}"
        message += f" in {context}" if context else ""
        message += f", expected {expected}" if expected else ""
        return self._error(self._token.start, message)

    def _error(self, position: int, message: str) -> ParseError:
        return ParseError(self._query, position, message)


def _round_ms(seconds: float) -> int:
    return math.floor(seconds * 1000 + 0.5) if seconds >= 0 else math.ceil(seconds * 1000 - 0.5)

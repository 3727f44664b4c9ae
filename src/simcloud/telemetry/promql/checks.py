"""Type checks of queries, with Prometheus' messages."""

from __future__ import annotations

from typing import Final

from simcloud.golang import quote
from simcloud.telemetry.promql.errors import ParseError
from simcloud.telemetry.promql.nodes import (
    Aggregate,
    Binary,
    Call,
    Matrix,
    Node,
    Paren,
    Selector,
    Subquery,
    Unary,
    ValueType,
    children,
    type_of,
)

COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
SET_OPERATORS: Final = frozenset({"and", "or", "unless"})
DEEPEST: Final = 100
"""Maximum nesting of expressions; a chain of operators is nested, too."""
TOO_DEEP: Final = "expression is nested too deeply"
_SPOKEN: Final = {
    "vector": "instant vector",
    "matrix": "range vector",
    "scalar": "scalar",
    "string": "string",
}


def check(query: str, node: Node) -> None:
    """Raise a ``ParseError`` about the first thing that does not fit."""
    level = [node]
    for _ in range(DEEPEST):
        level = [child for parent in level for child in children(parent)]
        if not level:
            break
    else:
        raise ParseError(query, level[0].start, TOO_DEEP)
    _Checker(query).check(node)


class _Checker:
    def __init__(self, query: str) -> None:
        self._query = query

    def check(self, node: Node) -> ValueType:
        match node:
            case Paren():
                self.check(node.inner)
            case Unary():
                kind = self.check(node.inner)
                if kind not in ("scalar", "vector"):
                    wanted = "unary expression only allowed on expressions of type scalar or instant vector"
                    raise self._error(node.start, f'{wanted}, got "{_SPOKEN[kind]}"')
            case Subquery():
                kind = self.check(node.inner)
                if kind != "vector":
                    raise self._error(
                        node.start, f"subquery is only allowed on instant vector, got {_SPOKEN[kind]} instead"
                    )
            case Matrix():
                self.check(node.selector)
            case Selector():
                self._selector(node)
            case Call():
                self._call(node)
            case Aggregate():
                self._expect(node.inner, "vector", "aggregation expression")
                if node.parameter is not None:
                    wanted_type: ValueType = "string" if node.operator == "count_values" else "scalar"
                    self._expect(node.parameter, wanted_type, "aggregation parameter")
            case Binary():
                self._binary(node)
        return type_of(node)

    def _selector(self, node: Selector) -> None:
        if node.name:
            for matcher in node.matchers[:-1]:
                if matcher.name == "__name__":
                    raise self._error(
                        node.start,
                        f"metric name must not be set twice: {quote(node.name)} or {quote(matcher.value)}",
                    )
        elif all(matcher.accepts("") for matcher in node.matchers):
            raise self._error(node.start, "vector selector must contain at least one non-empty matcher")

    def _call(self, node: Call) -> None:
        function, given = node.function, len(node.arguments)
        types = function.arguments
        least = len(types) - 1 if function.variadic else len(types)
        most = least + function.variadic
        wanted = ""
        if not function.variadic and given != least:
            wanted = f"expected {least}"
        elif given < least:
            wanted = f"expected at least {least}"
        elif function.variadic > 0 and given > most:
            wanted = f"expected at most {most}"
        if wanted:
            raise self._error(
                node.start, f"{wanted} argument(s) in call to {quote(function.name)}, got {given}"
            )
        for index, argument in enumerate(node.arguments):
            wanted_type = types[min(index, len(types) - 1)]
            self._expect(argument, wanted_type, f"call to function {quote(function.name)}")

    def _binary(self, node: Binary) -> None:
        left, right = self.check(node.left), self.check(node.right)
        operator, matching = node.operator, node.matching
        is_set = operator in SET_OPERATORS
        if node.returns_bool and operator not in COMPARISONS:
            raise self._error(node.operator_start, "bool modifier can only be used on comparison operators")
        if operator in COMPARISONS and not node.returns_bool and left == right == "scalar":
            raise self._error(node.operator_start, "comparisons between scalars must use BOOL modifier")
        if matching.on:
            for label in matching.labels:
                if label in matching.include:
                    raise self._error(
                        node.operator_start,
                        f"label {quote(label)} must not occur in ON and GROUP clause at once",
                    )
        for side, kind in ((node.left, left), (node.right, right)):
            if kind not in ("scalar", "vector"):
                raise self._error(
                    side.start, "binary expression must contain only scalar and instant vector types"
                )
        if not left == right == "vector":
            if matching.labels:
                raise self._error(node.start, "vector matching only allowed between instant vectors")
            if is_set:
                raise self._error(
                    node.start, f"set operator {quote(operator)} not allowed in binary scalar expression"
                )
        elif is_set:
            if matching.cardinality != "one-to-one":
                raise self._error(node.start, f"no grouping allowed for {quote(operator)} operation")
            matching.cardinality = "many-to-many"

    def _expect(self, node: Node, wanted: ValueType, context: str) -> None:
        kind = self.check(node)
        if kind != wanted:
            raise self._error(
                node.start, f"expected type {_SPOKEN[wanted]} in {context}, got {_SPOKEN[kind]}"
            )

    def _error(self, position: int, message: str) -> ParseError:
        return ParseError(self._query, position, message)

"""The lexer of LogQL.

The positions in error messages are Loki's: a token of several signs, a duration or a range has the line 0, because
Loki's scanner loses the line there.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from simcloud.telemetry.logs.logql.errors import LogqlError
from simcloud.telemetry.logs.logql.units import parse_bytes, parse_query_duration_ns
from simcloud.telemetry.promql.errors import ParseError
from simcloud.telemetry.promql.lexer import Lexer as PromqlLexer
from simcloud.telemetry.promql.numbers import parse_duration_ms, unquote

RANGE_FUNCTIONS: Final = frozenset(
    {"rate", "count_over_time", "bytes_rate", "bytes_over_time", "absent_over_time", "rate_counter"}
    | {
        f"{name}_over_time"
        for name in ("avg", "sum", "min", "max", "stdvar", "stddev", "quantile", "first", "last")
    }
)
AGGREGATORS: Final = frozenset(
    {"sum", "avg", "max", "min", "count", "stddev", "stdvar", "bottomk", "topk", "sort", "sort_desc"}
)
MOST_WORDS: Final = 500
"""Loki has no such limit, but a stack has: every operator is a step deeper."""
_CONVERSIONS: Final = {
    "bytes": "BYTES_CONV",
    "duration": "DURATION_CONV",
    "duration_seconds": "DURATION_SECONDS_CONV",
}
_FUNCTIONS: Final = {
    **{name: name.upper() for name in RANGE_FUNCTIONS | AGGREGATORS},
    **_CONVERSIONS,
    "vector": "VECTOR",
    "label_replace": "label_replace",
    "ip": "ip",
}
_KEYWORDS: Final = frozenset(
    {"by", "without", "bool", "offset", "on", "ignoring", "group_left", "group_right", "or", "and", "unless"}
    | {
        "json",
        "regexp",
        "logfmt",
        "unpack",
        "pattern",
        "label_format",
        "line_format",
        "decolorize",
        "drop",
        "keep",
    }
    | {"unwrap"}
)
_PAIRS: Final = frozenset({"!=", "=~", "!~", "!>", "|=", "|~", "|>", "==", ">=", "<="})
_SINGLES: Final = frozenset(",.{}=|()+-*/%^<>")
_DURATION_SIGNS: Final = frozenset("0123456789.nuµmshdwy")
_BYTES_SIGNS: Final = frozenset("0123456789.BikKMGTP")
_FLAGS: Final = ("--strict", "--keep-empty")


class Word(NamedTuple):
    """A token: its kind as in error messages, its value and its position."""

    kind: str
    text: str
    line: int
    column: int
    value: float = 0
    """Of a duration or range nanoseconds, of bytes their count, of a number the number."""


def words(query: str) -> list[Word]:
    """Split a query into tokens, ending with ``$end``, or at an error with ``$error`` and the message.

    The error is raised only when the parser reaches it, so that of two mistakes the first is reported.
    """
    return _Scanner(query).words()


class _Scanner:
    def __init__(self, query: str) -> None:
        self._query = query
        self._at = 0

    def words(self) -> list[Word]:
        found: list[Word] = []
        while not found or found[-1].kind not in ("$end", "$error"):
            try:
                found.append(self._next())
            except LogqlError as fault:
                found.append(Word("$error", fault.message, fault.line, fault.column))
            if len(found) > MOST_WORDS:
                raise LogqlError(f"input has more than {MOST_WORDS} words")
        return found

    def _next(self) -> Word:
        query = self._query
        self._skip_blanks()
        start = self._at
        line, column = self._place(start)
        if start >= len(query):
            return Word("$end", "", line, column)
        char = query[start]
        if char in "\"`'":
            return self._string(line, column)
        if char == "[":
            return self._range(column)
        if char.isascii() and (char.isdigit() or (char == "." and query[start + 1 : start + 2].isdigit())):
            return self._number(line, column)
        if char == "-":
            flag = next((flag for flag in _FLAGS if query.startswith(flag, start)), None)
            if flag is not None:
                self._at += len(flag)
                return Word("PARSER_FLAG", flag, 0, column)
        if query[start : start + 2] in _PAIRS:
            self._at += 2
            return Word(query[start : start + 2], "", 0, column)
        if char in _SINGLES:
            self._at += 1
            return Word(char, char, line, column)
        if char == "_" or char.isalpha():
            return self._name(line, column)
        self._at += 1
        return Word("IDENTIFIER", char, line, column)

    def _name(self, line: int, column: int) -> Word:
        query, start = self._query, self._at
        while self._at < len(query) and (query[self._at] == "_" or query[self._at].isalnum()):
            self._at += 1
        text = query[start : self._at]
        lower = text.lower()
        if lower in _FUNCTIONS:
            return Word(_FUNCTIONS[lower] if self._is_called() else "IDENTIFIER", text, line, column)
        return Word(lower if lower in _KEYWORDS else "IDENTIFIER", text, line, column)

    def _is_called(self) -> bool:
        """Return whether a parenthesis follows, or a grouping and a parenthesis."""
        rest = self._query[self._at :].lstrip().lower()
        for grouping in ("by", "without"):
            if rest.startswith(grouping):
                return rest.removeprefix(grouping).lstrip().startswith("(")
        return rest.startswith("(")

    def _number(self, line: int, column: int) -> Word:
        start = self._at
        for kind, signs, parse in (
            ("DURATION", _DURATION_SIGNS, parse_query_duration_ns),
            ("BYTES", _BYTES_SIGNS, parse_bytes),
        ):
            end = start
            while end < len(self._query) and self._query[end] in signs:
                end += 1
            text = self._query[start:end]
            if text[-1:].isalpha():
                try:
                    value = parse(text)
                except ValueError:
                    continue
                self._at = end
                return Word(kind, text, 0, column, value)
        return self._plain_number(line, column)

    def _plain_number(self, line: int, column: int) -> Word:
        query, start = self._query, self._at
        while self._at < len(query) and (query[self._at].isdigit() or query[self._at] == "."):
            self._at += 1
        if query[self._at : self._at + 1] in ("e", "E"):
            self._at += 1
            if query[self._at : self._at + 1] in ("+", "-"):
                self._at += 1
            while query[self._at : self._at + 1].isdigit():
                self._at += 1
        text = query[start : self._at]
        try:
            return Word("NUMBER", text, line, column, float(text))
        except ValueError:
            raise LogqlError(
                f'unable to parse literal as a float: strconv.ParseFloat: parsing "{text}": invalid syntax'
            ) from None

    def _range(self, column: int) -> Word:
        end = self._query.find("]", self._at)
        if end < 0:
            raise LogqlError("missing closing ']' in duration", 0, column)
        text = self._query[self._at + 1 : end]
        try:
            value = parse_duration_ms(text) * 1_000_000
        except ValueError as fault:
            raise LogqlError(str(fault), 0, column) from None
        self._at = end + 1
        return Word("RANGE", text, 0, column, value)

    def _string(self, line: int, column: int) -> Word:
        mark = self._query[self._at]
        if mark == "'":
            raise LogqlError("invalid char literal", line, column)
        reader = PromqlLexer(self._query)
        reader.position = self._at
        try:
            token = reader.next()
        except ParseError:
            raise LogqlError("literal not terminated", line, column) from None
        self._at = token.end
        return Word("STRING", unquote(token.text), line, column)

    def _skip_blanks(self) -> None:
        query = self._query
        while self._at < len(query) and (query[self._at].isspace() or query[self._at] == "#"):
            if query[self._at] == "#":
                end = query.find("\n", self._at)
                self._at = len(query) if end < 0 else end
            else:
                self._at += 1

    def _place(self, at: int) -> tuple[int, int]:
        if not self._query:
            return 0, 0
        before = self._query[:at]
        return before.count("\n") + 1, at - before.rfind("\n")

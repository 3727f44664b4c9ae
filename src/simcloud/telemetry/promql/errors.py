"""Errors of queries, with Prometheus' messages."""

from __future__ import annotations


class ParseError(ValueError):
    """A syntax or type error; the message has its position."""

    def __init__(self, query: str, position: int, message: str) -> None:
        before = query[:position]
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode()) + 1
        super().__init__(f"{line}:{column}: parse error: {message}")
        self.message = message


class QueryError(RuntimeError):
    """A parsed query cannot be evaluated on these samples."""


class TooManySamples(QueryError):
    """A query exceeds the limit of samples."""

    def __init__(self) -> None:
        super().__init__("query processing would load too many samples into memory in query execution")

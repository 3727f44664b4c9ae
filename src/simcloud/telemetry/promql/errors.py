"""What can be wrong with a query, in Prometheus' words."""

from __future__ import annotations


class ParseError(ValueError):
    """A query cannot be read, or its types do not fit; says where."""

    def __init__(self, query: str, position: int, message: str) -> None:
        before = query[:position]
        line = before.count("\n") + 1
        column = len(before[before.rfind("\n") + 1 :].encode()) + 1
        super().__init__(f"{line}:{column}: parse error: {message}")
        self.message = message


class QueryError(RuntimeError):
    """A query that was read cannot be answered from these samples."""


class TooManySamples(QueryError):
    """A query would load more samples than one may."""

    def __init__(self) -> None:
        super().__init__("query processing would load too many samples into memory in query execution")

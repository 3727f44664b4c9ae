"""Errors of queries, with Loki's messages."""

from __future__ import annotations

from simcloud.machine import Labels
from simcloud.telemetry.promql.binary import format_labels


class LogqlError(ValueError):
    """A query cannot be parsed; the message has the position, if it is known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        where = f"at line {line}, col {column}" if line or column else ""
        super().__init__(f"parse error {where}: {message}")
        self.message = message
        self.line = line
        self.column = column


class TooMany(RuntimeError):
    """A query exceeds a limit of counts."""


class TooLong(RuntimeError):
    """A query covers too long a time."""

    def __init__(self) -> None:
        super().__init__(
            "Request timed out, decrease the duration of the request or add more label matchers (prefer exact "
            "match over regex match) to reduce the amount of data processed."
        )


class PipelineFailed(RuntimeError):
    """A stage failed on a line of a metric query."""

    def __init__(self, error: str, labels: Labels) -> None:
        super().__init__(
            f"pipeline error: '{error}' for series: '{format_labels(labels)}'.\n"
            f'Use a label filter to intentionally skip this error. (e.g | __error__!="{error}").\n'
            'To skip all potential errors you can match empty errors.(e.g __error__="")\n'
            "The label filter can also be specified after unwrap. "
            '(e.g | unwrap latency | __error__="" )\n'
        )

"""What can be wrong with a query, in Loki's words."""

from __future__ import annotations

from simcloud.machine.emit import Labels
from simcloud.telemetry.promql.binary import written


class LogqlError(ValueError):
    """A query cannot be read; says where, if the place is known."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        where = f"at line {line}, col {column}" if line or column else ""
        super().__init__(f"parse error {where}: {message}")
        self.message = message
        self.line = line
        self.column = column


class TooMany(RuntimeError):
    """A query asks for more than one may."""


class TooLong(RuntimeError):
    """A query would look at too much."""

    def __init__(self) -> None:
        super().__init__(
            "Request timed out, decrease the duration of the request or add more label matchers (prefer exact "
            "match over regex match) to reduce the amount of data processed."
        )


class PipelineFailed(RuntimeError):
    """A line that is to be counted could not be read by a stage."""

    def __init__(self, error: str, labels: Labels) -> None:
        super().__init__(
            f"pipeline error: '{error}' for series: '{written(labels)}'.\n"
            f'Use a label filter to intentionally skip this error. (e.g | __error__!="{error}").\n'
            'To skip all potential errors you can match empty errors.(e.g __error__="")\n'
            "The label filter can also be specified after unwrap. "
            '(e.g | unwrap latency | __error__="" )\n'
        )

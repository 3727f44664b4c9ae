"""LogQL, the query language of Loki: log queries and metric queries."""

from simcloud.telemetry.logs.logql.engine import Effort, Evaluation, FoundLine, find_lines
from simcloud.telemetry.logs.logql.errors import LogqlError, PipelineFailed, TooLong, TooMany
from simcloud.telemetry.logs.logql.nodes import LogSelector
from simcloud.telemetry.logs.logql.parser import check_narrow, parse, parse_matchers

__all__ = [
    "Effort",
    "Evaluation",
    "FoundLine",
    "LogSelector",
    "LogqlError",
    "PipelineFailed",
    "TooLong",
    "TooMany",
    "check_narrow",
    "find_lines",
    "parse",
    "parse_matchers",
]

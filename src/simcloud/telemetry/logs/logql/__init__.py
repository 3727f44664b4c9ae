"""LogQL, the query language of Loki: log queries and metric queries."""

from simcloud.telemetry.logs.logql.engine import (
    Effort as Effort,
    Evaluation as Evaluation,
    FoundLine as FoundLine,
    find_lines as find_lines,
)
from simcloud.telemetry.logs.logql.errors import (
    LogqlError as LogqlError,
    PipelineFailed as PipelineFailed,
    TooLong as TooLong,
    TooMany as TooMany,
)
from simcloud.telemetry.logs.logql.nodes import LogSelector as LogSelector
from simcloud.telemetry.logs.logql.parser import (
    check_narrow as check_narrow,
    parse as parse,
    parse_matchers as parse_matchers,
)

"""PromQL, as in Prometheus 2.42.

The parser is our own, because positions and messages of errors are part of the behaviour. Native histograms are not
supported: nothing here emits them, and in Prometheus 2.42 they are disabled by default.
"""

from simcloud.telemetry.promql.engine import Engine as Engine, Limits as Limits
from simcloud.telemetry.promql.errors import ParseError as ParseError, QueryError as QueryError
from simcloud.telemetry.promql.parser import parse as parse, parse_selector as parse_selector
from simcloud.telemetry.promql.values import (
    Point as Point,
    Result as Result,
    Sample as Sample,
    SeriesPoints as SeriesPoints,
)

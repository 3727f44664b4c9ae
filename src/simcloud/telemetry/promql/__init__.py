"""PromQL, as in Prometheus 2.42.

The parser is our own, because positions and messages of errors are part of the behaviour. Native histograms are not
supported: nothing here emits them, and in Prometheus 2.42 they are disabled by default.
"""

from simcloud.telemetry.promql.engine import Engine, Limits
from simcloud.telemetry.promql.errors import ParseError, QueryError
from simcloud.telemetry.promql.parser import parse, parse_selector
from simcloud.telemetry.promql.values import Point, Result, Sample, SeriesPoints

__all__ = [
    "Engine",
    "Limits",
    "ParseError",
    "Point",
    "QueryError",
    "Result",
    "Sample",
    "SeriesPoints",
    "parse",
    "parse_selector",
]

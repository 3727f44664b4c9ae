"""PromQL: a query language over series, as Prometheus 2.42 reads and answers it.

The parser is our own because an error's place and words are part of the behaviour. Native histograms are left
out: nothing here emits them, and Prometheus 2.42 has them behind a switch.
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

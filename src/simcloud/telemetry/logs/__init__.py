"""Log lines of containers: streams of lines, selected by their labels."""

from simcloud.exports import export_lazily
from simcloud.telemetry.logs.search import Found as Found, search_lines as search_lines
from simcloud.telemetry.logs.store import (
    SECOND_NS as SECOND_NS,
    LogRetention as LogRetention,
    LogStore as LogStore,
    LogStream as LogStream,
    nanoseconds as nanoseconds,
)

with export_lazily(globals()):
    from simcloud.telemetry.logs.loki_api import LokiApi as LokiApi

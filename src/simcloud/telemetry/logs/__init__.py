"""Log lines of containers: streams of lines, selected by their labels."""

from simcloud.telemetry.logs.loki_api import LokiApi
from simcloud.telemetry.logs.search import Found, search
from simcloud.telemetry.logs.store import LogRetention, LogStore, LogStream

__all__ = ["Found", "LogRetention", "LogStore", "LogStream", "LokiApi", "search"]

"""What containers wrote: streams of lines, found by their labels."""

from aiopslab.observer.logs.loki_api import LokiApi
from aiopslab.observer.logs.search import Found, search
from aiopslab.observer.logs.store import LogRetention, LogStore, LogStream

__all__ = ["Found", "LogRetention", "LogStore", "LogStream", "LokiApi", "search"]

"""Streams between clients and containers: exec, attach, port-forward and proxy.

Clients reach exec, attach and port-forward by WebSocket. This package does not know containers: the bytes go to and
come from the ``Runtime`` of the API. Clients are held back, or let go, when they send or read out of measure.
"""

from simcloud.server.kubernetes.streams.proxy import proxy
from simcloud.server.kubernetes.streams.refusals import needs_websocket
from simcloud.server.kubernetes.streams.requests import NAMES
from simcloud.server.kubernetes.streams.websockets import serve

__all__ = ["NAMES", "needs_websocket", "proxy", "serve"]

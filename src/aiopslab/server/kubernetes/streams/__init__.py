"""Streams between clients and containers: exec, attach, port-forward and proxy.

Clients reach exec, attach and port-forward by WebSocket. Nothing here knows containers: the bytes go to and
come from the ``Runtime`` of the API. Clients are held back, or let go, when they send or read out of measure.
"""

from aiopslab.server.kubernetes.streams.opening import NAMES
from aiopslab.server.kubernetes.streams.proxying import proxy
from aiopslab.server.kubernetes.streams.refusing import needs_websocket
from aiopslab.server.kubernetes.streams.serving import serve

__all__ = ["NAMES", "needs_websocket", "proxy", "serve"]

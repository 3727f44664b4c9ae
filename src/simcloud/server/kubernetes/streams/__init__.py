"""Streams between clients and containers: exec, attach, port-forward and proxy.

Clients reach exec, attach and port-forward by WebSocket. This package does not depend on containers: it exchanges
bytes with the ``Runtime`` of the API. Clients that send too fast are paused; those that read too slowly are
disconnected.
"""

from simcloud.server.kubernetes.streams.proxy import proxy as proxy
from simcloud.server.kubernetes.streams.requests import NAMES as NAMES, needs_websocket as needs_websocket
from simcloud.server.kubernetes.streams.websockets import serve as serve

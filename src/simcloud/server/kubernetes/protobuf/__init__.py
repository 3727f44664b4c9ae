"""Kubernetes objects as protobuf, which kubectl sends for ``create`` and some clients request.

A body is four magic bytes and an envelope that names apiVersion and kind around the object's own
message. ``decode`` returns the object in its JSON form, and ``encode`` is the inverse. Custom
resources have no protobuf form; patches are always JSON.
"""

from simcloud.server.kubernetes.protobuf.decoder import decode as decode
from simcloud.server.kubernetes.protobuf.encoder import (
    encode as encode,
    encode_watch_event as encode_watch_event,
)

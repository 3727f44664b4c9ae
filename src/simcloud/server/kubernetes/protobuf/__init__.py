"""Kubernetes objects as protobuf, which kubectl sends for ``create`` and some clients request.

A body is four magic bytes and an envelope that names apiVersion and kind around the object's own
message. ``decode`` returns the object in its JSON form, and ``encode`` is the inverse. Custom
resources have no protobuf form; patches are always JSON.
"""

from simcloud.server.kubernetes.protobuf.decoder import decode
from simcloud.server.kubernetes.protobuf.encoder import encode, encode_watch_event

__all__ = ["decode", "encode", "encode_watch_event"]

"""Kubernetes objects as protobuf: what kubectl sends for ``create`` and some clients ask for.

A body is four magic bytes and an envelope that names apiVersion and kind around the object's own
message. ``decode`` gives the object in its JSON form, ``encode`` goes the way back. Custom resources
have no protobuf form; patches are always JSON.
"""

from simcloud.server.kubernetes.protobuf.decoding import decode
from simcloud.server.kubernetes.protobuf.encoding import encode, encode_watch_event

__all__ = ["decode", "encode", "encode_watch_event"]

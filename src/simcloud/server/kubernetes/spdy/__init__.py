"""The subset of SPDY/3.1 frames that Kubernetes' port-forward uses.

This package only reads and writes frames; streams are managed by its users.
"""

from simcloud.server.kubernetes.spdy.decoder import FrameReader, SpdyError
from simcloud.server.kubernetes.spdy.encoder import FrameWriter
from simcloud.server.kubernetes.spdy.frames import (
    Data,
    Frame,
    GoAway,
    Headers,
    Ping,
    ResetStream,
    Settings,
    SynReply,
    SynStream,
    WindowUpdate,
)

__all__ = [
    "Data",
    "Frame",
    "FrameReader",
    "FrameWriter",
    "GoAway",
    "Headers",
    "Ping",
    "ResetStream",
    "Settings",
    "SpdyError",
    "SynReply",
    "SynStream",
    "WindowUpdate",
]

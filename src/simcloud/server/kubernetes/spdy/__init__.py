"""SPDY/3.1 frames, the little of them that Kubernetes' port-forward speaks.

Reading and writing frames only: who may open streams, and what they carry, is the user's business.
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

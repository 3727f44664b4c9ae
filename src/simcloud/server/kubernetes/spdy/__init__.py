"""The subset of SPDY/3.1 frames that Kubernetes' port-forward uses.

This package only reads and writes frames; streams are managed by its users.
"""

from simcloud.server.kubernetes.spdy.decoder import FrameReader as FrameReader, SpdyError as SpdyError
from simcloud.server.kubernetes.spdy.encoder import FrameWriter as FrameWriter
from simcloud.server.kubernetes.spdy.frames import (
    Data as Data,
    Frame as Frame,
    GoAway as GoAway,
    Headers as Headers,
    Ping as Ping,
    ResetStream as ResetStream,
    Settings as Settings,
    SynReply as SynReply,
    SynStream as SynStream,
    WindowUpdate as WindowUpdate,
)

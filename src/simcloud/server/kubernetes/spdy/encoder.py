"""Encodes frames to bytes."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final

from simcloud.server.kubernetes.spdy import frames
from simcloud.server.kubernetes.spdy.frames import DICTIONARY, Frame

DATA_BYTES: Final = 32 << 10
"""Longer data is sent in several frames, so that streams take turns."""


class FrameWriter:
    """Encodes the frames of a connection, in the order of sending."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(
            9, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_DEFAULT_STRATEGY, DICTIONARY
        )

    def write(self, frame: Frame) -> bytes:
        """One frame's bytes; of long data, several frames'."""
        match frame:
            case frames.Data(stream, data, fin):
                return _data(stream, data, fin)
            case frames.SynStream(stream, headers, fin, unidirectional, associated, priority):
                flags = _fin(fin) | (frames.FLAG_UNIDIRECTIONAL if unidirectional else 0)
                payload = _words(stream, associated) + bytes((priority << 5, 0)) + self._headers(headers)
                return _control(frames.SYN_STREAM, flags, payload)
            case frames.SynReply(stream, headers, fin):
                return _control(frames.SYN_REPLY, _fin(fin), _words(stream) + self._headers(headers))
            case frames.Headers(stream, headers, fin):
                return _control(frames.HEADERS, _fin(fin), _words(stream) + self._headers(headers))
            case frames.ResetStream(stream, status):
                return _control(frames.RST_STREAM, 0, _words(stream, status))
            case frames.Settings(values):
                payload = b"".join(_words(number, value) for number, value in values.items())
                return _control(frames.SETTINGS, 0, _words(len(values)) + payload)
            case frames.Ping(number):
                return _control(frames.PING, 0, _words(number))
            case frames.GoAway(last_stream, status):
                return _control(frames.GOAWAY, 0, _words(last_stream, status))
            case frames.WindowUpdate(stream, delta):
                return _control(frames.WINDOW_UPDATE, 0, _words(stream, delta))

    def _headers(self, headers: Mapping[str, str]) -> bytes:
        block = _words(len(headers))
        for name, value in headers.items():
            for text in (name.lower(), value):
                spelled = text.encode("latin-1", "replace")
                block += _words(len(spelled)) + spelled
        return self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


def _words(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def _fin(fin: bool) -> int:
    return frames.FLAG_FIN if fin else 0


def _control(kind: int, flags: int, body: bytes) -> bytes:
    first = 1 << 31 | frames.VERSION << 16 | kind
    return _words(first, flags << 24 | len(body)) + body


def _data(stream: int, data: bytes, fin: bool) -> bytes:
    pieces = [data[place : place + DATA_BYTES] for place in range(0, len(data), DATA_BYTES)] or [b""]
    last = len(pieces) - 1
    return b"".join(
        _words(stream, _fin(fin and number == last) << 24 | len(piece)) + piece
        for number, piece in enumerate(pieces)
    )

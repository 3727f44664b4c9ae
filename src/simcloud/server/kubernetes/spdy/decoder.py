"""Decodes bytes to frames, with limits. Invalid input raises ``SpdyError``."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Final

from simcloud.server.kubernetes.spdy import frames
from simcloud.server.kubernetes.spdy.frames import DICTIONARY, Frame

FRAME_LIMIT_BYTES: Final = 1 << 20
HEADERS_LIMIT_BYTES: Final = 64 << 10
"""Of a header block when it is decompressed."""

_STREAM: Final = 0x7FFF_FFFF
"""Numbers of streams have 31 bits; the first bit of their word is reserved."""


class SpdyError(Exception):
    """Invalid SPDY/3.1, or a frame above the limits; the connection must be closed."""


class FrameReader:
    """Splits a stream of bytes into frames. It buffers less than one frame."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete now. Read them all before feeding more."""
        self._held += data
        while len(self._held) >= frames.FRAME_HEADER_BYTES:
            length = int.from_bytes(self._held[5:8], "big")
            if length > FRAME_LIMIT_BYTES:
                raise SpdyError(f"a frame of {length} bytes is too large")
            end = frames.FRAME_HEADER_BYTES + length
            if len(self._held) < end:
                return
            first, flags = int.from_bytes(self._held[:4], "big"), self._held[4]
            body = bytes(self._held[frames.FRAME_HEADER_BYTES : end])
            del self._held[:end]
            frame = self._control(first, flags, body) if first >> 31 else self._data(first, flags, body)
            if frame is not None:
                yield frame

    def _data(self, stream: int, flags: int, body: bytes) -> Frame:
        return frames.Data(stream, body, bool(flags & frames.FLAG_FIN))

    def _control(self, first: int, flags: int, body: bytes) -> Frame | None:
        version, kind = (first >> 16) & 0x7FFF, first & 0xFFFF
        if version != frames.VERSION:
            raise SpdyError(f"version {version} of SPDY is not spoken here")
        known = _KINDS.get(kind)
        if known is None:
            return None  # kinds that a peer does not know are to be passed over
        fewest_bytes, make = known
        if len(body) < fewest_bytes:
            raise SpdyError(f"a control frame of kind {kind} is too short")
        return make(self, flags, body)

    def _syn_stream(self, flags: int, body: bytes) -> Frame:
        return frames.SynStream(
            _word(body, 0) & _STREAM,
            self._headers(body[10:]),
            fin=bool(flags & frames.FLAG_FIN),
            unidirectional=bool(flags & frames.FLAG_UNIDIRECTIONAL),
            associated=_word(body, 4) & _STREAM,
            priority=body[8] >> 5,
        )

    def _syn_reply(self, flags: int, body: bytes) -> Frame:
        return frames.SynReply(
            _word(body, 0) & _STREAM, self._headers(body[4:]), bool(flags & frames.FLAG_FIN)
        )

    def _more_headers(self, flags: int, body: bytes) -> Frame:
        return frames.Headers(
            _word(body, 0) & _STREAM, self._headers(body[4:]), bool(flags & frames.FLAG_FIN)
        )

    def _reset(self, _: int, body: bytes) -> Frame:
        return frames.ResetStream(_word(body, 0) & _STREAM, _word(body, 4))

    def _settings(self, _: int, body: bytes) -> Frame:
        count = _word(body, 0)
        if len(body) != 4 + 8 * count:
            raise SpdyError("a settings frame is not as long as it says")
        at = range(4, len(body), 8)
        return frames.Settings({_word(body, place) & 0xFF_FFFF: _word(body, place + 4) for place in at})

    def _ping(self, _: int, body: bytes) -> Frame:
        return frames.Ping(_word(body, 0))

    def _go_away(self, _: int, body: bytes) -> Frame:
        return frames.GoAway(_word(body, 0) & _STREAM, _word(body, 4))

    def _window_update(self, _: int, body: bytes) -> Frame:
        return frames.WindowUpdate(_word(body, 0) & _STREAM, _word(body, 4) & _STREAM)

    def _headers(self, compressed: bytes) -> dict[str, str]:
        try:
            block = self._inflate.decompress(compressed, HEADERS_LIMIT_BYTES)
        except zlib.error as error:
            raise SpdyError(f"a header block cannot be decompressed: {error}") from None
        if self._inflate.unconsumed_tail:
            raise SpdyError("a header block is too large")
        return _pairs(block)


_Maker = Callable[[FrameReader, int, bytes], Frame]

_KINDS: Final[dict[int, tuple[int, _Maker]]] = {
    frames.SYN_STREAM: (10, FrameReader._syn_stream),
    frames.SYN_REPLY: (4, FrameReader._syn_reply),
    frames.RST_STREAM: (8, FrameReader._reset),
    frames.SETTINGS: (4, FrameReader._settings),
    frames.PING: (4, FrameReader._ping),
    frames.GOAWAY: (8, FrameReader._go_away),
    frames.HEADERS: (4, FrameReader._more_headers),
    frames.WINDOW_UPDATE: (8, FrameReader._window_update),
}
"""The minimum length and the constructor of each kind of control frame."""


def _word(body: bytes, place: int) -> int:
    return int.from_bytes(body[place : place + 4], "big")


def _pairs(block: bytes) -> dict[str, str]:
    """Return the names and values of a header block; of several values of a name, the first."""
    found: dict[str, str] = {}
    place = 4
    for _ in range(_word(block, 0)):
        name, place = _text(block, place)
        value, place = _text(block, place)
        found.setdefault(name.lower(), value.partition("\0")[0])
    return found


def _text(block: bytes, place: int) -> tuple[str, int]:
    start = place + 4
    end = start + _word(block, place)
    if len(block) < start or len(block) < end:
        raise SpdyError("a header block ends too early")
    return block[start:end].decode("latin-1"), end

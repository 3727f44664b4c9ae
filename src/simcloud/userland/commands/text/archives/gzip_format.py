"""The gzip format, read and written piece by piece, with a charge for the output.

The compressed bytes are zlib's: genuine gzip produces others of about the same length. Decompressed data is the same.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import NamedTuple

from simcloud.machine.process import Context

MAGIC = b"\x1f\x8b"
_PIECE_BYTES = 65536
_HAS_CHECK, _HAS_EXTRA, _HAS_NAME, _HAS_COMMENT = 2, 4, 8, 16
TRAILER_BYTES = 8


class GzipError(Exception):
    """The data is invalid. The message is gzip's."""


class Header(NamedTuple):
    """The fields of a gzip header, and its length."""

    mtime: int
    name: bytes
    size: int


def make_header(name: bytes, mtime: int, level: int) -> bytes:
    """A header as gzip writes it on Unix."""
    effort = 2 if level == 9 else 4 if level == 1 else 0
    flags = _HAS_NAME if name else 0
    stamp = (mtime if 0 <= mtime < 2**32 else 0).to_bytes(4, "little")
    return MAGIC + bytes([8, flags]) + stamp + bytes([effort, 3]) + (name + b"\0" if name else b"")


def read_header(data: bytes) -> Header:
    """Read the header at the beginning of a file."""
    size = header_size(data)
    if size is None:
        raise GzipError("unexpected end of file")
    start = 12 + int.from_bytes(data[10:12], "little") if data[3] & _HAS_EXTRA else 10
    name = data[start : data.index(b"\0", start)] if data[3] & _HAS_NAME else b""
    return Header(int.from_bytes(data[4:8], "little"), name, size)


def header_size(data: bytes) -> int | None:
    """Return the length of the header at the beginning of data; None if the data ends within it."""
    if not MAGIC.startswith(data[:2]):
        raise GzipError("not in gzip format" if len(data) > 1 else "unexpected end of file")
    if len(data) < 12:
        return None
    flags, size = data[3], 10
    if flags & _HAS_EXTRA:
        size += 2 + int.from_bytes(data[size : size + 2], "little")
    for flag in (_HAS_NAME, _HAS_COMMENT):
        if flags & flag:
            end = data.find(b"\0", size)
            if end < 0:
                return None
            size = end + 1
    size += 2 if flags & _HAS_CHECK else 0
    return size if size <= len(data) else None


async def compress(
    ctx: Context, pieces: AsyncIterator[bytes], header: bytes, level: int
) -> AsyncIterator[bytes]:
    """Compress data to one gzip member."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    checksum, size = 0, 0
    yield header
    async for piece in pieces:
        ctx.spend_bytes(len(piece))
        checksum = zlib.crc32(piece, checksum)
        size += len(piece)
        yield packer.compress(piece)
    yield packer.flush() + checksum.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little")


async def decompress(ctx: Context, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Decompress gzip members. Raises ``GzipError``, after the data that could be read."""
    member: _Member | None = None
    members, pending = 0, b""
    async for piece in pieces:
        pending += piece
        while pending:
            if member is None:
                if members and not MAGIC.startswith(pending[:2]):
                    return  # what follows the last member does not count
                size = header_size(pending)
                if size is None:
                    break
                member, pending = _Member(), pending[size:]
            data, pending = member.take(pending)
            ctx.spend_bytes(len(data))
            if data:
                yield data
            if not member.ended:
                if not pending or (len(pending) < TRAILER_BYTES and member.packed_out):
                    break
                continue
            member, members = None, members + 1
    if member is not None or not members:
        raise GzipError("unexpected end of file")


class _Member:
    """One member after its header: its data and its checksum."""

    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        self._checksum = 0
        self._size = 0
        self.packed_out = False
        self.ended = False

    def take(self, packed: bytes) -> tuple[bytes, bytes]:
        """Some data, and what of the packed bytes is left."""
        data = b""
        if not self.packed_out:
            try:
                data = self._unpacker.decompress(packed, _PIECE_BYTES)
            except zlib.error:
                raise GzipError("invalid compressed data--format violated") from None
            self._checksum = zlib.crc32(data, self._checksum)
            self._size += len(data)
            self.packed_out = self._unpacker.eof
            packed = self._unpacker.unused_data if self.packed_out else self._unpacker.unconsumed_tail
            if data:
                return data, packed
        if self.packed_out and len(packed) >= TRAILER_BYTES:
            if int.from_bytes(packed[:4], "little") != self._checksum:
                raise GzipError("invalid compressed data--crc error")
            if int.from_bytes(packed[4:8], "little") != self._size % 2**32:
                raise GzipError("invalid compressed data--length error")
            self.ended = True
            packed = packed[TRAILER_BYTES:]
        return data, packed

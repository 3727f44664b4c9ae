from __future__ import annotations

import tracemalloc
import zlib

import pytest
from hypothesis import given, settings, strategies as st

from simcloud.server.kubernetes.spdy import (
    Data,
    Frame,
    FrameReader,
    FrameWriter,
    GoAway,
    Headers,
    Ping,
    ResetStream,
    Settings,
    SpdyError,
    SynReply,
    SynStream,
    WindowUpdate,
)
from simcloud.server.kubernetes.spdy.decoder import FRAME_LIMIT_BYTES
from simcloud.server.kubernetes.spdy.frames import DICTIONARY

STREAMS = st.integers(0, 2**31 - 1)
WORDS = st.integers(0, 2**32 - 1)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=12)
HEADERS = st.dictionaries(NAMES, st.text("abcXYZ 0123:/", max_size=20), max_size=5)
FRAMES: st.SearchStrategy[Frame] = st.one_of(
    st.builds(Data, STREAMS, st.binary(max_size=200), st.booleans()),
    st.builds(SynStream, STREAMS, HEADERS, st.booleans(), st.booleans(), STREAMS, st.integers(0, 7)),
    st.builds(SynReply, STREAMS, HEADERS, st.booleans()),
    st.builds(ResetStream, STREAMS, WORDS),
    st.builds(Settings, st.dictionaries(st.integers(0, 2**24 - 1), WORDS, max_size=4)),
    st.builds(Ping, WORDS),
    st.builds(GoAway, STREAMS, WORDS),
    st.builds(Headers, STREAMS, HEADERS, st.booleans()),
    st.builds(WindowUpdate, STREAMS, STREAMS),
)


def test_the_dictionary_is_the_one_of_the_protocol() -> None:
    # Peers name the dictionary by its Adler-32; SPDY/3's is well known.
    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 0xE3C6A7C2)


def test_a_ping_has_the_bytes_of_the_draft() -> None:
    assert FrameWriter().write(Ping(1)) == bytes.fromhex("80030006 00000004 00000001")


def test_data_has_the_bytes_of_the_draft() -> None:
    assert FrameWriter().write(Data(5, b"hi", fin=True)) == bytes.fromhex("00000005 01000002") + b"hi"


def test_a_header_block_names_the_dictionary() -> None:
    written = FrameWriter().write(SynStream(1, {"port": "80"}))
    assert written[20:24] == 0xE3C6A7C2.to_bytes(4, "big")


@given(st.lists(FRAMES, max_size=8), st.data())
def test_what_is_written_is_read_in_whatever_pieces_it_comes(sent: list[Frame], data: st.DataObject) -> None:
    writer, reader = FrameWriter(), FrameReader()
    wire = b"".join(writer.write(frame) for frame in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=5)))
    received: list[Frame] = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        received += reader.feed(wire[start:end])
    assert received == sent


def test_long_data_is_sent_in_turns_and_ends_once() -> None:
    wire = FrameWriter().write(Data(1, bytes(100_000), fin=True))
    pieces = [frame for frame in FrameReader().feed(wire) if isinstance(frame, Data)]
    assert sum(len(piece.data) for piece in pieces) == 100_000
    assert [piece.fin for piece in pieces] == [False, False, False, True]


@given(st.lists(st.binary(max_size=64), max_size=20))
def test_any_bytes_are_frames_or_an_error(pieces: list[bytes]) -> None:
    reader = FrameReader()
    try:
        for piece in pieces:
            list(reader.feed(piece))
    except SpdyError:
        pass


@given(st.integers(0, 12), st.integers(0, 255), st.binary(max_size=64))
def test_any_body_of_any_kind_is_a_frame_or_an_error(kind: int, flags: int, body: bytes) -> None:
    wire = (
        (1 << 31 | 3 << 16 | kind).to_bytes(4, "big") + bytes([flags]) + len(body).to_bytes(3, "big") + body
    )
    try:
        assert len(list(FrameReader().feed(wire))) <= 1
    except SpdyError:
        pass


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_any_header_block_is_headers_or_an_error(block: bytes, more: bytes) -> None:
    compress = zlib.compressobj(zdict=DICTIONARY)
    body = b"\0\0\0\1" + compress.compress(block) + compress.flush(zlib.Z_SYNC_FLUSH) + more
    wire = b"\x80\x03\x00\x02\x00" + len(body).to_bytes(3, "big") + body
    try:
        list(FrameReader().feed(wire))
    except SpdyError:
        pass


def test_a_huge_frame_is_refused_before_it_is_kept() -> None:
    with pytest.raises(SpdyError, match="too large"):
        list(FrameReader().feed(b"\0\0\0\1\0" + (FRAME_LIMIT_BYTES + 1).to_bytes(3, "big")))


def test_another_version_is_refused() -> None:
    with pytest.raises(SpdyError, match="version 2"):
        list(FrameReader().feed(bytes.fromhex("80020006 00000004 00000001")))


def test_a_header_block_that_blows_up_is_refused_in_little_memory() -> None:
    compress = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)
    bomb = compress.compress(bytes(200 << 20)) + compress.flush(zlib.Z_SYNC_FLUSH)
    body = b"\0\0\0\1" + bomb
    wire = b"\x80\x03\x00\x02\x00" + len(body).to_bytes(3, "big") + body
    tracemalloc.start()
    with pytest.raises(SpdyError, match="too large"):
        list(FrameReader().feed(wire))
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 4 << 20


@settings(max_examples=20)
@given(st.integers(2**20, 2**32 - 1))
def test_a_header_block_that_claims_too_much_is_refused(count: int) -> None:
    compress = zlib.compressobj(zdict=DICTIONARY)
    block = compress.compress(count.to_bytes(4, "big")) + compress.flush(zlib.Z_SYNC_FLUSH)
    body = b"\0\0\0\1" + block
    with pytest.raises(SpdyError, match="ends too early"):
        list(FrameReader().feed(b"\x80\x03\x00\x02\x00" + len(body).to_bytes(3, "big") + body))

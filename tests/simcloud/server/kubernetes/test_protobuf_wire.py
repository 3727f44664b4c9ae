from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from simcloud.kubernetes.api.errors import BadRequest
from simcloud.server.kubernetes.protobuf import wire


def read(data: bytes) -> list[tuple[int, int, wire.Value]]:
    return list(wire.fields(data, "Pod"))


def test_the_four_forms():
    data = b"\x08\x96\x01" + b"\x12\x02hi" + b"\x1d\x01\x02\x03\x04" + b"\x21" + bytes(8)
    assert read(data) == [(1, 0, 150), (2, 2, b"hi"), (3, 5, b"\x01\x02\x03\x04"), (4, 1, bytes(8))]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x08", "unexpected EOF"),
        (b"\x08\x80", "unexpected EOF"),
        (b"\x12\x05hi", "unexpected EOF"),
        (b"\x1d\x01", "unexpected EOF"),
        (b"\x08" + b"\xff" * 10, "proto: integer overflow"),
        (b"\x12" + b"\xff" * 9 + b"\x01", "proto: negative length found during unmarshaling"),
        (b"\x0c", "proto: Pod: wiretype end group for non-group"),
        (b"\x00\x00", "proto: Pod: illegal tag 0 (wire type 0)"),
        (b"\x0b\x0c", "proto: illegal wireType 3"),
        (b"\x0e", "proto: illegal wireType 6"),
    ],
)
def test_malformed_data_is_refused_in_the_genuine_words(data, sentence):
    with pytest.raises(BadRequest) as refused:
        read(data)
    assert refused.value.message == sentence


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    try:
        read(data)
    except BadRequest:
        pass


@given(st.integers(1, 2**29 - 1), st.integers(-(2**63), 2**63 - 1))
def test_a_written_number_is_read_back(number, value):
    ((back, wire_type, read_value),) = read(wire.write_varint(number, value))
    assert (back, wire_type) == (number, wire.VARINT)
    assert isinstance(read_value, int)
    assert wire.to_signed(read_value, 64) == value


@given(st.integers(1, 2**29 - 1), st.binary(max_size=300))
def test_a_written_run_is_read_back(number, value):
    assert read(wire.write_counted(number, value)) == [(number, wire.COUNTED, value)]

"""Protobuf's wire format: numbered fields, each a varint, eight bytes, four bytes or length-delimited.

Reading is bounded by the data and only raises ``BadRequest``, with the messages of the genuine server. Groups,
which no Kubernetes client writes, are rejected.
"""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.kubernetes.api import BadRequest

VARINT, FIXED64, COUNTED, FIXED32 = 0, 1, 2, 5
_END_GROUP = 4
_LARGEST_LENGTH = 2**63 - 1
_LARGEST_NUMBER = 2**31 - 1

Value = int | bytes
"""A varint as a number without sign; anything else as its bytes."""


def fields(data: bytes, message: str) -> Iterator[tuple[int, int, Value]]:
    """Yield each field's number, wire type and value. ``message`` is what an error names."""
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3 & 0xFFFF_FFFF, tag & 7
        if wire_type == _END_GROUP:
            raise BadRequest(f"proto: {message}: wiretype end group for non-group")
        if not 0 < number <= _LARGEST_NUMBER:
            shown = to_signed(number, 32)
            raise BadRequest(f"proto: {message}: illegal tag {shown} (wire type {tag})")
        value: Value
        if wire_type == VARINT:
            value, at = _varint(data, at)
        else:
            length, at = _length(data, at, wire_type)
            value = data[at : at + length]
            at += length
            if at > end:
                raise BadRequest("unexpected EOF")
        yield number, wire_type, value


def _length(data: bytes, at: int, wire_type: int) -> tuple[int, int]:
    if wire_type == COUNTED:
        length, at = _varint(data, at)
        if length > _LARGEST_LENGTH:
            raise BadRequest("proto: negative length found during unmarshaling")
        return length, at
    if wire_type in {FIXED64, FIXED32}:
        return (8 if wire_type == FIXED64 else 4), at
    raise BadRequest(f"proto: illegal wireType {wire_type}")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & 0xFFFF_FFFF_FFFF_FFFF, at
            shift += 7
            if shift >= 64:
                raise BadRequest("proto: integer overflow")
    except IndexError:
        raise BadRequest("unexpected EOF") from None


def varints(data: bytes) -> Iterator[int]:
    """Yield the numbers of a packed list."""
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def to_signed(value: int, bits: int) -> int:
    """Interpret the low bits of a number as a signed integer."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def write_varint(number: int, value: int) -> bytes:
    """Encode a field that is a number; negative ones take 64 bits."""
    return _encode_varint(number << 3 | VARINT) + _encode_varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def write_counted(number: int, value: bytes) -> bytes:
    """Return a field that is a run of bytes: text, bytes or a message."""
    return _encode_varint(number << 3 | COUNTED) + _encode_varint(len(value)) + value


def write_fixed64(number: int, value: bytes) -> bytes:
    """Return a field of eight bytes."""
    return _encode_varint(number << 3 | FIXED64) + value


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)

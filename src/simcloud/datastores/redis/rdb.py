"""Snapshots in Redis' own format (version 9), in the plain encodings that every release reads."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from simcloud.datastores.known_files import KnownFiles
from simcloud.datastores.redis.engine.database import Account, Database
from simcloud.datastores.redis.engine.values import (
    SCORE,
    SHORT_MAX_BYTES,
    EncodedMembers,
    HashValue,
    Limits,
    ListValue,
    SetValue,
    SortedValue,
    StringValue,
    Value,
)
from simcloud.datastores.redis.version import VERSION

MAGIC: Final = b"REDIS0009"
AUX, RESIZE, EXPIRY_MS, SELECT, EOF = 0xFA, 0xFB, 0xFC, 0xFE, 0xFF
STRING, LIST, SET, HASH, SORTED = 0, 1, 2, 4, 5
CRC_POLYNOMIAL: Final = 0x95AC9329AC4BC9B5
ELEMENTS_MAX: Final = 1 << 24
SHORT_LENGTHS: Final = tuple(bytes([number]) for number in range(SHORT_MAX_BYTES + 1))
KNOWN_SNAPSHOTS: Final[KnownFiles[Mapping[bytes, EncodedMembers]]] = KnownFiles()


class BadSnapshot(Exception):
    """The file is not what this module writes."""


def build_snapshot(sets: Mapping[bytes, EncodedMembers], now: float) -> bytes:
    """Build the snapshot of an image: without a checksum, and with these sorted sets, none of them empty."""
    database, limits = Database(0, lambda: int(now * 1000), Account()), Limits()
    for key, members in sets.items():
        database.put(key, _adopt(members, limits))
    data = dump([database], now, 0, checked=False)
    KNOWN_SNAPSHOTS.add(data, sets)
    return data


def _adopt(members: EncodedMembers, limits: Limits) -> SortedValue:
    value = SortedValue()
    value.adopt(members, limits)
    return value


def dump(databases: Sequence[Database], now: float, used_bytes: int, checked: bool = True) -> bytes:
    """Everything as the bytes of a snapshot; ``checked`` is whether it ends in a checksum."""
    parts = [MAGIC]
    facts = {"redis-ver": VERSION, "redis-bits": "64", "ctime": str(int(now)), "used-mem": str(used_bytes)}
    for name, fact in (facts | {"aof-preamble": "0"}).items():
        parts += [bytes([AUX]), _text(name.encode()), _text(fact.encode())]
    for db in databases:
        if not db.values:
            continue
        parts += [
            bytes([SELECT]),
            _length(db.number),
            bytes([RESIZE]),
            _length(len(db.values)),
            _length(len(db.expires)),
        ]
        for key, value in db.values.items():
            when_ms = db.expires.get(key)
            if when_ms is not None:
                parts.append(struct.pack("<BQ", EXPIRY_MS, max(0, when_ms)))
            _put(parts, key, value)
    parts.append(bytes([EOF]))
    body = b"".join(parts)
    return body + struct.pack("<Q", crc64(body) if checked else 0)


def _put(parts: list[bytes], key: bytes, value: Value) -> None:
    name = _text(key)
    if isinstance(value, StringValue):
        parts += [bytes([STRING]), name, _text(value.data)]
    elif isinstance(value, ListValue):
        parts += [bytes([LIST]), name, _length(len(value)), *map(_text, value.items)]
    elif isinstance(value, SetValue):
        parts += [bytes([SET]), name, _length(len(value)), *map(_text, value.list_members())]
    elif isinstance(value, HashValue):
        parts += [bytes([HASH]), name, _length(len(value))]
        parts += [_text(field) + _text(text) for field, text in value.fields.items()]
    elif isinstance(value, SortedValue):
        parts += [bytes([SORTED]), name, _length(len(value))]
        parts.append(_encode_members(value))


def _encode_members(value: SortedValue) -> bytes:
    if value.encoded_count == len(value):
        return value.encoded
    scores, pack, members = value.scores, SCORE.pack, value.order[value.encoded_count :]
    try:
        added = [SHORT_LENGTHS[len(member)] + member + pack(scores[member]) for member in members]
    except IndexError:  # some are long
        added = [_text(member) + pack(scores[member]) for member in members]
    value.encoded += b"".join(added)
    value.encoded_count = len(value.order)
    return value.encoded


def _length(number: int) -> bytes:
    if number < 1 << 6:
        return bytes([number])
    if number < 1 << 14:
        return bytes([0x40 | number >> 8, number & 0xFF])
    if number < 1 << 32:
        return b"\x80" + struct.pack(">I", number)
    return b"\x81" + struct.pack(">Q", number)


def _text(text: bytes) -> bytes:
    size = len(text)
    return SHORT_LENGTHS[size] + text if size < len(SHORT_LENGTHS) else _length(size) + text


def load(data: bytes, databases: Sequence[Database], now_ms: int, limits: Limits) -> bytes:
    """Fill databases from a snapshot; what follows it in the file. Raises ``BadSnapshot``."""
    known = KNOWN_SNAPSHOTS.find(data)
    if known is not None:
        for key, members in known.items():
            databases[0].put(key, _adopt(members, limits))
        return b""
    try:
        return _Reader(data, databases, now_ms, limits).read()
    except (IndexError, struct.error):
        raise BadSnapshot("it ends too early") from None


class _Reader:
    def __init__(self, data: bytes, databases: Sequence[Database], now_ms: int, limits: Limits) -> None:
        self._data = data
        self._at = len(MAGIC)
        self._databases = databases
        self._now_ms = now_ms
        self._limits = limits
        self._entries: dict[bytes, tuple[float, bytes]] = {}

    def read(self) -> bytes:
        if self._data[:5] != MAGIC[:5]:
            raise BadSnapshot("wrong signature")
        db, when_ms = self._databases[0], None
        while True:
            kind = self._byte()
            if kind == EOF:
                break
            if kind == AUX:
                self._text()
                self._text()
            elif kind == RESIZE:
                self._length()
                self._length()
            elif kind == SELECT:
                number = self._length()
                if number >= len(self._databases):
                    raise BadSnapshot("too many databases")
                db = self._databases[number]
            elif kind == EXPIRY_MS:
                when_ms = int.from_bytes(self._take(8), "little")
            else:
                self._store(db, kind, when_ms)
                when_ms = None
        end = self._at
        checksum = int.from_bytes(self._take(8), "little")
        if checksum and checksum != crc64(self._data[:end]):
            raise BadSnapshot("wrong checksum")
        return self._data[self._at :]

    def _store(self, db: Database, kind: int, when_ms: int | None) -> None:
        key = self._text()
        value = self._value(kind)
        if when_ms is not None and when_ms <= self._now_ms:
            return
        db.put(key, value)
        if when_ms is not None:
            db.set_expiry(key, when_ms)

    def _value(self, kind: int) -> Value:
        if kind == STRING:
            return StringValue(self._text())
        count = self._length()
        if count > ELEMENTS_MAX or kind not in (LIST, SET, HASH, SORTED):
            raise BadSnapshot("an encoding that is not known here")
        if kind == LIST:
            return ListValue([self._text() for _ in range(count)])
        if kind == SET:
            members = SetValue()
            for _ in range(count):
                members.add(self._text(), self._limits)
            return members
        if kind == HASH:
            fields = HashValue()
            for _ in range(count):
                fields.put(self._text(), self._text(), self._limits)
            return fields
        ordered = SortedValue()
        ordered.fill(self._read_entries(count), self._limits)
        if len(ordered) < count:
            raise BadSnapshot("a sorted set has a member twice")
        return ordered

    def _read_entries(self, count: int) -> list[tuple[float, bytes]]:
        """Read members with their scores. The same ones are often in many sets, and are shared then."""
        data, known, found, at = self._data, self._entries, [], self._at
        for _ in range(count):
            end = at + 1 + data[at] + SCORE.size
            entry = known.get(data[at:end])
            if entry is None:
                self._at = at
                entry = self._read_entry()
                end = self._at
            found.append(entry)
            at = end
        self._at = at
        return found

    def _read_entry(self) -> tuple[float, bytes]:
        start = self._at
        member = self._text()
        score: float = SCORE.unpack(self._take(SCORE.size))[0]
        return self._entries.setdefault(self._data[start : self._at], (score, member))

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise BadSnapshot("it ends too early")
        self._at += count
        return taken

    def _length(self) -> int:
        first = self._byte()
        if first < 0x40:
            return first
        if first < 0x80:
            return (first & 0x3F) << 8 | self._byte()
        if first in (0x80, 0x81):
            return int.from_bytes(self._take(4 if first == 0x80 else 8), "big")
        raise BadSnapshot("an encoding that is not known here")

    def _text(self) -> bytes:
        first = self._data[self._at]
        if first in (0xC0, 0xC1, 0xC2):
            self._at += 1
            return b"%d" % int.from_bytes(self._take(1 << (first & 3)), "little", signed=True)
        return self._take(self._length())


@cache
def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (CRC_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


def crc64(data: bytes) -> int:
    """The checksum at a snapshot's end (the polynomial of Jones, reflected)."""
    table, checksum = _crc_table(), 0
    for byte in data:
        checksum = table[(checksum ^ byte) & 0xFF] ^ checksum >> 8
    return checksum

"""The binary format of journal records and data files.

A journal record is length, checksum, sequence number, row, file name and a document's BSON (none: deleted).
A data file is a header with a checksum and the sequence number of its last change, then rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Final, NamedTuple
from zlib import crc32

from simcloud.datastores.known_files import KnownFiles
from simcloud.datastores.mongodb.bson import Document
from simcloud.datastores.mongodb.storage.errors import Corrupt

HEAD: Final = Struct("<II")
BODY: Final = Struct("<QqB")
FILE: Final = Struct("<8sIQ")
ROW: Final = Struct("<QI")
MAGIC: Final = b"WTaiops\1"
BLOCK_BYTES: Final = 4096
CHECKPOINT_BYTES: Final = 4 * BLOCK_BYTES
"""Blocks of a written file that hold the root page and the extent lists of its checkpoints."""

KEY_BYTES: Final = 18
"""Space of an index entry."""

CATALOG_ROW: Final = -1
"""The row of a record that describes the collection itself instead of one of its documents."""

KEPT_BYTES: Final = 1 << 20
"""Files up to this size are kept as packed rows from the start; the rows of larger ones are packed when they change."""


class Change(NamedTuple):
    """A record of the journal."""

    sequence: int
    row: int
    ident: str
    data: bytes


class CollectionFile(NamedTuple):
    """What the data file of a collection contains."""

    sequence: int
    rows: list[tuple[int, Document | None, int]]
    """Number, document and the size of its BSON."""
    packed: dict[int, bytes] | None
    """The packed rows by number, if the file is so small that they are kept."""


KNOWN_FILES: Final[KnownFiles[CollectionFile]] = KnownFiles()


def record(change: Change) -> bytes:
    """Return a journal record's bytes."""
    ident = change.ident.encode()
    body = BODY.pack(change.sequence, change.row, len(ident)) + ident + change.data
    return HEAD.pack(len(body), crc32(body)) + body


def measure_records(data: bytes) -> int:
    """Return how many bytes the whole records at the beginning of a journal have."""
    at = 0
    while at + HEAD.size <= len(data):
        size, checksum = HEAD.unpack_from(data, at)
        body = data[at + HEAD.size : at + HEAD.size + size]
        if len(body) < size or crc32(body) != checksum or size < BODY.size:
            break
        at += HEAD.size + size
    return at


def records(data: bytes) -> Iterator[Change]:
    """Yield the records of a journal; what a crash tore off at its end is left out."""
    at, end = 0, measure_records(data)
    while at < end:
        size, _ = HEAD.unpack_from(data, at)
        body = data[at + HEAD.size : at + HEAD.size + size]
        sequence, row, length = BODY.unpack_from(body)
        start = BODY.size + length
        yield Change(sequence, row, body[BODY.size : start].decode(), body[start:])
        at += HEAD.size + size


def pack_row(row: int, data: bytes) -> bytes:
    """Return the bytes of a row of a data file."""
    return ROW.pack(row, len(data)) + data


def pack_file(sequence: int, rows: Iterable[bytes]) -> bytes:
    """Return the bytes of a data file of packed rows, filled up to whole blocks."""
    body = b"".join(rows)
    head = FILE.pack(MAGIC, crc32(body), sequence) + len(body).to_bytes(8, "little")
    rest = -(len(head) + len(body)) % BLOCK_BYTES + (CHECKPOINT_BYTES if body else 0)
    return b"".join((head, body, bytes(rest)))


def pack_index(ident: str, sequence: int, count: int) -> bytes:
    """Return the file of an index; only its size follows from the number of entries."""
    if not count:
        return pack_file(0, ())
    return pack_file(
        sequence, (pack_row(0, f"{ident} {sequence}".encode()), pack_row(1, bytes(KEY_BYTES * count)))
    )


def unpack_file(path: str, data: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """Return the sequence number and the rows of a data file; ``Corrupt`` when it was tampered with."""
    start = FILE.size + 8
    if len(data) < start:
        raise Corrupt(path, f"file size of {len(data)} is too small")
    magic, checksum, sequence = FILE.unpack_from(data)
    size = int.from_bytes(data[FILE.size : start], "little")
    body = data[start : start + size]
    if magic != MAGIC:
        raise Corrupt(path, "does not appear to be a WiredTiger file")
    if len(body) < size or crc32(body) != checksum:
        raise Corrupt(
            path,
            "read checksum error for 4096B block at offset 4096: block header checksum doesn't match expected checksum",
        )
    rows = []
    at = 0
    while at < size:
        row, length = ROW.unpack_from(body, at)
        at += ROW.size
        rows.append((row, body[at : at + length]))
        at += length
    return sequence, rows

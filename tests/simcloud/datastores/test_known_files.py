"""Files that are known need not be parsed: what is known of them is what parsing gives."""

from __future__ import annotations

from simcloud.datastores.known_files import FILES_MAX, KnownFiles
from simcloud.datastores.mongodb import Document, Encoded, Int64
from simcloud.datastores.mongodb.encoding import decode
from simcloud.datastores.mongodb.storage import data_files
from simcloud.datastores.mongodb.storage.records import KNOWN_FILES, ROW, unpack_file
from simcloud.datastores.redis import build_snapshot
from simcloud.datastores.redis.engine import EncodedMembers, encode_member
from simcloud.datastores.redis.engine.database import Account, Database
from simcloud.datastores.redis.engine.values import Limits, SortedValue
from simcloud.datastores.redis.rdb import dump, load


def test_only_the_same_bytes_are_known_and_the_oldest_are_forgotten() -> None:
    known: KnownFiles[int] = KnownFiles()
    for number in range(FILES_MAX + 1):
        known.add(b"%d" % number, number)
    assert (known.find(b"0"), known.find(b"1"), known.find(b"1\0")) == (None, 1, None)


def test_a_collection_is_known_as_it_would_be_parsed() -> None:
    friend = Encoded({"id": Int64(7), "at": Int64(1 << 40)})
    documents: list[Document] = [
        {"name": "a", "friends": [friend, friend], "bytes": b"x"},
        {"_id": "b", "n": Int64(1)},
    ]
    files = data_files("/data", {"app.users": (documents, [])}, 1e9).values()
    known_files = [(data, known) for data in files if (known := KNOWN_FILES.find(data)) is not None]
    assert max(len(known.rows) for _, known in known_files) == len(documents)
    for data, known in known_files:
        sequence, rows = unpack_file("", data)
        assert known.sequence == sequence
        assert repr(known.rows) == repr([(row, decode(found), len(found)) for row, found in rows])
        assert known.packed == {row: ROW.pack(row, len(found)) + found for row, found in rows}


def test_sorted_sets_are_known_as_they_would_be_parsed() -> None:
    sets = {
        b"%d" % count: EncodedMembers.join(
            [encode_member(b"m%03d" % at, at / 2) for at in range(10, 10 + count)]
        )
        for count in (3, 80, 200)
    }
    data, limits = build_snapshot(sets, 1e9), Limits()
    known, parsed = (Database(0, lambda: 5, Account()) for _ in range(2))
    assert load(data, [known], 5, limits) == b""
    assert load(data + b"!", [parsed], 5, limits) == b"!"
    assert dump([known], 1e9, 0, checked=False) == dump([parsed], 1e9, 0, checked=False) == data
    for key, expected in parsed.values.items():
        value = known.get(key, SortedValue)
        assert value is not None
        for name in ("count", "size_bytes", "encoding", "accounted", "scores", "order"):
            assert getattr(value, name) == getattr(expected, name)

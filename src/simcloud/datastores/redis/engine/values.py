"""The five types of values, each with an estimate of its memory and its Redis encoding.

Compact encodings become general ones at the configured limits, and never change back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from struct import Struct
from typing import ClassVar, Final, NamedTuple

from simcloud.datastores.redis.engine.numbers import whole

EMBEDDED_MAX_BYTES: Final = 44
NODE_BYTES: Final = 64
"""What one element of a hash table or skip list takes beside its text."""
PACKED_BYTES: Final = 3
LIST_NODE_BYTES: Final = 2
SORTED_NODE_BYTES: Final = 104
SCORE: Final = Struct("<d")
SHORT_MAX_BYTES: Final = 63
"""Maximum length of a text that a snapshot stores with a length of one byte."""


class Limits:
    """The limits of the compact encodings."""

    __slots__ = ("hash_entries", "hash_value", "set_integers", "zset_entries", "zset_value")

    def __init__(self) -> None:
        self.hash_entries = 512
        self.hash_value = 64
        self.set_integers = 512
        self.zset_entries = 128
        self.zset_value = 64


class Value:
    """The value of a key. ``accounted`` is the memory that the database has counted for it.

    Of an ``undecoded`` value only the size is known; the database decodes it when it is first used.
    """

    __slots__ = ("accessed", "accounted", "counter", "scan", "undecoded")
    kind: ClassVar[str] = ""

    def __init__(self) -> None:
        self.accessed = 0
        self.counter = 5
        self.accounted = 0
        self.scan: list[tuple[int, bytes]] | None = None
        self.undecoded = False

    def decode(self) -> None:
        """Decode an undecoded value."""
        raise NotImplementedError

    @property
    def size_bytes(self) -> int:
        """About what it takes of memory."""
        raise NotImplementedError

    @property
    def encoding(self) -> str:
        """As OBJECT ENCODING names it."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class StringValue(Value):
    """A string. ``grown`` is set once it has been changed in place."""

    __slots__ = ("data", "grown")
    kind = "string"

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.data = data
        self.grown = False

    @property
    def size_bytes(self) -> int:
        return 16 + len(self.data)

    @property
    def encoding(self) -> str:
        if self.grown:
            return "raw"
        if whole(self.data) is not None:
            return "int"
        return "embstr" if len(self.data) <= EMBEDDED_MAX_BYTES else "raw"

    def __len__(self) -> int:
        return len(self.data)


class ListValue(Value):
    """A list."""

    __slots__ = ("bytes", "items")
    kind = "list"

    def __init__(self, items: Sequence[bytes] = ()) -> None:
        super().__init__()
        self.items: deque[bytes] = deque(items)
        self.bytes = sum(map(len, items))

    @property
    def size_bytes(self) -> int:
        return 120 + self.bytes + LIST_NODE_BYTES * len(self.items)

    @property
    def encoding(self) -> str:
        return "quicklist"

    def __len__(self) -> int:
        return len(self.items)

    def push(self, item: bytes, left: bool) -> None:
        """Add at an end."""
        self.bytes += len(item)
        if left:
            self.items.appendleft(item)
        else:
            self.items.append(item)

    def pop(self, left: bool) -> bytes:
        """Take from an end."""
        item = self.items.popleft() if left else self.items.pop()
        self.bytes -= len(item)
        return item

    def slice(self, start: int, stop: int) -> list[bytes]:
        """From ``start`` up to before ``stop``, both not negative."""
        return list(islice(self.items, start, stop))

    def replace(self, items: list[bytes]) -> None:
        """Other content."""
        self.items = deque(items)
        self.bytes = sum(map(len, items))


class HashValue(Value):
    """A hash: fields and their values."""

    __slots__ = ("bytes", "fields", "packed")
    kind = "hash"

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[bytes, bytes] = {}
        self.bytes = 0
        self.packed = True

    @property
    def size_bytes(self) -> int:
        return 64 + self.bytes + (2 * PACKED_BYTES if self.packed else NODE_BYTES) * len(self.fields)

    @property
    def encoding(self) -> str:
        return "ziplist" if self.packed else "hashtable"

    def __len__(self) -> int:
        return len(self.fields)

    def put(self, field: bytes, text: bytes, limits: Limits) -> bool:
        """Set a field; whether it is new."""
        old = self.fields.get(field)
        self.bytes += len(text) + (len(field) if old is None else -len(old))
        self.fields[field] = text
        if self.packed and (
            len(self.fields) > limits.hash_entries
            or len(text) > limits.hash_value
            or len(field) > limits.hash_value
        ):
            self.packed = False
        return old is None

    def drop(self, field: bytes) -> bool:
        """Remove a field; whether it was there."""
        old = self.fields.pop(field, None)
        if old is None:
            return False
        self.bytes -= len(old) + len(field)
        return True


class SetValue(Value):
    """A set."""

    __slots__ = ("bytes", "integers", "members")
    kind = "set"

    def __init__(self) -> None:
        super().__init__()
        self.members: dict[bytes, None] = {}
        self.bytes = 0
        self.integers = True

    @property
    def size_bytes(self) -> int:
        return 64 + (8 * len(self.members) if self.integers else self.bytes + NODE_BYTES * len(self.members))

    @property
    def encoding(self) -> str:
        return "intset" if self.integers else "hashtable"

    def __len__(self) -> int:
        return len(self.members)

    def add(self, member: bytes, limits: Limits) -> bool:
        """Add one; whether it is new."""
        if member in self.members:
            return False
        self.members[member] = None
        self.bytes += len(member)
        if self.integers and (len(self.members) > limits.set_integers or whole(member) is None):
            self.integers = False
        return True

    def drop(self, member: bytes) -> bool:
        """Remove one; whether it was there."""
        if member not in self.members:
            return False
        del self.members[member]
        self.bytes -= len(member)
        return True

    def list_members(self) -> list[bytes]:
        """Return all members, in the order a client sees."""
        return sorted(self.members, key=int) if self.integers else list(self.members)


class EncodedMembers(NamedTuple):
    """The members of a sorted set with their scores, in order and encoded as in a snapshot.

    All members have the same length, and it is a short one.
    """

    data: bytes
    total: int
    member_bytes: int

    @classmethod
    def join(cls, entries: list[bytes]) -> EncodedMembers:
        """Join the results of ``encode_member``. Raise ``ValueError`` if their lengths differ."""
        data, total = b"".join(entries), len(entries)
        if {*map(len, entries)} != {len(entries[0])}:
            raise ValueError("members of different lengths")
        return cls(data, total, len(entries[0]) - ENTRY_BYTES)


ENTRY_BYTES: Final = 1 + SCORE.size
"""Bytes of a short encoded member beside its text."""


def encode_member(member: bytes, score: float) -> bytes:
    """Encode a short member of a sorted set. Raise ``ValueError`` for a long one."""
    if len(member) > SHORT_MAX_BYTES:
        raise ValueError("a member that is too long")
    return bytes([len(member)]) + member + SCORE.pack(score)


@lru_cache(maxsize=4096)
def _decode_member(data: bytes) -> tuple[bytes, float]:
    """Decode a member of a sorted set and its score. The same ones are often in many sets, and are shared then."""
    return data[1 : -SCORE.size], SCORE.unpack(data[-SCORE.size :])[0]


class SortedValue(Value):
    """A sorted set: members sorted by score, then by bytes."""

    __slots__ = ("bytes", "count", "encoded", "encoded_count", "order", "packed", "scores")
    kind = "zset"

    def __init__(self) -> None:
        super().__init__()
        self.scores: dict[bytes, float] = {}
        self.order: list[bytes] = []
        self.count = 0
        self.bytes = 0
        self.packed = True
        self.encoded = b""
        """The first members as the last snapshot has them, kept because most sorted sets grow at their end."""
        self.encoded_count = 0

    @property
    def size_bytes(self) -> int:
        return 64 + self.bytes + (16 if self.packed else SORTED_NODE_BYTES) * self.count

    @property
    def encoding(self) -> str:
        return "ziplist" if self.packed else "skiplist"

    def __len__(self) -> int:
        return self.count

    def adopt(self, members: EncodedMembers, limits: Limits) -> None:
        """Make these all there is, without decoding them."""
        self.undecoded = True
        self.encoded, self.encoded_count = members.data, members.total
        self.count = members.total
        self.bytes = members.member_bytes * members.total
        self.packed = members.total <= limits.zset_entries and members.member_bytes <= limits.zset_value

    def decode(self) -> None:
        data, step = self.encoded, len(self.encoded) // self.count
        self.scores = dict([_decode_member(data[at : at + step]) for at in range(0, len(data), step)])
        self.order = list(self.scores)
        self.undecoded = False

    def put(self, member: bytes, score: float, limits: Limits) -> None:
        """Give a member a score."""
        old = self.scores.get(member)
        if old is not None:
            if old == score:
                return
            del self.order[self._place(old, member)]
            self._forget_encoded()
        else:
            self.bytes += len(member)
            self.count += 1
        order, scores = self.order, self.scores
        if not order or (score, member) > (scores[order[-1]], order[-1]):
            order.append(member)
        else:
            order.insert(self._place(score, member), member)
            self._forget_encoded()
        scores[member] = score
        if self.packed and (self.count > limits.zset_entries or len(member) > limits.zset_value):
            self.packed = False

    def fill(self, entries: list[tuple[float, bytes]], limits: Limits) -> None:
        """Make these all there is."""
        self.order = [member for _, member in sorted(entries)]
        self.scores = {member: score for score, member in entries}
        self.count = len(self.scores)
        self.bytes = sum(map(len, self.scores))
        longest = max(map(len, self.scores), default=0)
        self.packed = len(entries) <= limits.zset_entries and longest <= limits.zset_value
        self._forget_encoded()

    def drop(self, member: bytes) -> bool:
        """Remove a member; whether it was there."""
        score = self.scores.get(member)
        if score is None:
            return False
        del self.order[self._place(score, member)], self.scores[member]
        self.count -= 1
        self.bytes -= len(member)
        self._forget_encoded()
        return True

    def drop_slice(self, start: int, stop: int) -> int:
        """Remove those from one rank up to before another; how many."""
        gone = self.order[start:stop]
        del self.order[start:stop]
        self.count -= len(gone)
        for member in gone:
            del self.scores[member]
            self.bytes -= len(member)
        self._forget_encoded()
        return len(gone)

    def rank(self, member: bytes) -> int | None:
        """Return the rank of a member."""
        score = self.scores.get(member)
        return None if score is None else self._place(score, member)

    def first_at_least(self, score: float, excluded: bool) -> int:
        """Return the rank of the first one with at least (or more than) a score."""
        side = bisect_right if excluded else bisect_left
        return side(self.order, score, key=self.scores.__getitem__)

    def entries(self, start: int, stop: int) -> list[tuple[float, bytes]]:
        """Scores and members from one rank up to before another."""
        scores = self.scores
        return [(scores[member], member) for member in self.order[start:stop]]

    def _forget_encoded(self) -> None:
        self.encoded, self.encoded_count = b"", 0

    def _place(self, score: float, member: bytes) -> int:
        """Return the rank that a member with that score has, or would have."""
        scores = self.scores
        return bisect_left(self.order, (score, member), key=lambda other: (scores[other], other))

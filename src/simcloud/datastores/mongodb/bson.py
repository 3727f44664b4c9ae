"""BSON values as Python values.

Null, booleans, strings, arrays (``list``) and documents (``dict``, whose order counts) are Python's own.
An ``int`` is a 32-bit integer when it fits and a 64-bit one otherwise; ``Int64`` is always the latter.
``float`` is a double, ``datetime`` (aware, UTC) a date in whole milliseconds.
Types that Python lacks are defined here. Documents that were sent or stored are never changed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple

Document = dict[str, Any]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
INT32_MIN: Final = -(2**31)
INT32_MAX: Final = 2**31 - 1
INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1


def new_uuid(random: Random) -> bytes:
    """Return a random UUID (version 4)."""
    data = bytearray(random.randbytes(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    return bytes(data)


class ObjectId:
    """Twelve bytes: seconds since 1970, five of the process, a counter of three."""

    __slots__ = ("binary",)

    def __init__(self, value: str | bytes) -> None:
        binary = bytes.fromhex(value) if isinstance(value, str) else value
        if len(binary) != 12:
            raise ValueError(f"an ObjectId has 12 bytes, not {len(binary)}")
        self.binary = binary

    def __str__(self) -> str:
        return self.binary.hex()

    def __repr__(self) -> str:
        return f"ObjectId('{self.binary.hex()}')"

    def __eq__(self, other: object) -> bool:
        return other.__class__ is ObjectId and self.binary == other.binary

    def __hash__(self) -> int:
        return hash(self.binary)

    def __lt__(self, other: ObjectId) -> bool:
        return self.binary < other.binary

    @property
    def generated_at(self) -> datetime:
        """The second it was made in."""
        return EPOCH + timedelta(seconds=int.from_bytes(self.binary[:4], "big"))


class ObjectIds:
    """Generates the ids of one process: unique, and the same in every run."""

    __slots__ = ("_counter", "_process")

    def __init__(self, random: Random) -> None:
        self._process = random.randbytes(5)
        self._counter = random.randrange(1 << 24)

    def new(self, now: float) -> ObjectId:
        """Return a fresh id at this moment (seconds since 1970)."""
        self._counter = (self._counter + 1) & 0xFFFFFF
        return ObjectId(
            (int(now) & 0xFFFFFFFF).to_bytes(4, "big") + self._process + self._counter.to_bytes(3, "big")
        )


class Int64(int):
    """An integer of 64 bits, even if it fits in 32."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Int64({int(self)})"


class Regex(NamedTuple):
    """A regular expression of Perl's kind with its option letters in alphabetical order."""

    pattern: str
    options: str = ""


class Binary(NamedTuple):
    """Bytes with a subtype (0 generic, 4 UUID)."""

    data: bytes
    subtype: int = 0


def date(seconds: float) -> datetime:
    """Return a date from seconds since 1970, cut to milliseconds."""
    return EPOCH + timedelta(milliseconds=int(seconds * 1000))


def milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def type_name(value: Any) -> str:
    """The type's name as messages and ``$type`` have it."""
    if value.__class__ is int:
        return "int" if INT32_MIN <= value <= INT32_MAX else "long"
    return TYPE_NAMES[value.__class__]


TYPE_NAMES: Final[dict[type, str]] = {
    float: "double",
    str: "string",
    dict: "object",
    list: "array",
    Binary: "binData",
    bytes: "binData",
    ObjectId: "objectId",
    bool: "bool",
    datetime: "date",
    type(None): "null",
    Regex: "regex",
    int: "int",
    Int64: "long",
}

TYPE_NUMBERS: Final[dict[str, int]] = {
    "double": 1,
    "string": 2,
    "object": 3,
    "array": 4,
    "binData": 5,
    "undefined": 6,
    "objectId": 7,
    "bool": 8,
    "date": 9,
    "null": 10,
    "regex": 11,
    "dbPointer": 12,
    "javascript": 13,
    "symbol": 14,
    "javascriptWithScope": 15,
    "int": 16,
    "timestamp": 17,
    "long": 18,
    "decimal": 19,
    "minKey": -1,
    "maxKey": 127,
}


def is_number(value: Any) -> bool:
    """Return whether it is an integer or a double (a boolean is neither)."""
    return isinstance(value, int | float) and value.__class__ is not bool


def copy_value(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original."""
    if value.__class__ is dict:
        return {name: copy_value(each) for name, each in value.items()}
    if value.__class__ is list:
        return [copy_value(each) for each in value]
    return value

"""The checksums themselves: digests, and the three old ways to sum up a file."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Protocol

_REVERSED_BITS = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


class Digest(Protocol):
    """Takes data piece by piece and shows what it comes to."""

    def update(self, data: bytes, /) -> None:
        """Take a piece of data."""

    def hexdigest(self) -> str:
        """The digest so far."""


def _md5() -> Digest:
    return hashlib.md5(usedforsecurity=False)


def _sha1() -> Digest:
    return hashlib.sha1(usedforsecurity=False)


DIGESTS: dict[str, Callable[[], Digest]] = {
    "md5": _md5,
    "sha1": _sha1,
    "sha224": hashlib.sha224,
    "sha256": hashlib.sha256,
    "sha384": hashlib.sha384,
    "sha512": hashlib.sha512,
}
DIGEST_BITS = {
    "md5": 128,
    "sha1": 160,
    "sha224": 224,
    "sha256": 256,
    "sha384": 384,
    "sha512": 512,
    "blake2b": 512,
}
TAGS = {name: name.upper() for name in DIGESTS} | {"blake2b": "BLAKE2b"}


def digest(name: str, bits: int) -> Digest:
    """A fresh digest of that name; only BLAKE2b comes in several sizes."""
    if name == "blake2b":
        return hashlib.blake2b(digest_size=bits // 8)
    return DIGESTS[name]()


class Crc:
    """The CRC of POSIX ``cksum``: zlib's polynomial with the bits the other way round."""

    def __init__(self) -> None:
        self._state = 0
        self._size = 0

    def update(self, data: bytes) -> None:
        """Take a piece of data."""
        self._size += len(data)
        self._step(data)

    def show(self) -> str:
        """The checksum and the size."""
        length = self._size
        tail = bytearray()
        while length:
            tail.append(length & 0xFF)
            length >>= 8
        self._step(bytes(tail))
        value = int(f"{self._state:032b}"[::-1], 2) ^ 0xFFFFFFFF
        return f"{value} {self._size}"

    def _step(self, data: bytes) -> None:
        self._state = zlib.crc32(data.translate(_REVERSED_BITS), self._state ^ 0xFFFFFFFF) ^ 0xFFFFFFFF


class BsdSum:
    """A 16-bit sum, rotated at each byte."""

    def __init__(self) -> None:
        self._state = 0
        self._size = 0

    def update(self, data: bytes) -> None:
        """Take a piece of data."""
        self._size += len(data)
        state = self._state
        for byte in data:
            state = ((state >> 1) + ((state & 1) << 15) + byte) & 0xFFFF
        self._state = state

    def show(self) -> str:
        """The checksum and the number of 1024-byte blocks."""
        return f"{self._state:05} {-(-self._size // 1024):5}"


class SysvSum:
    """The sum of all bytes, folded to 16 bits."""

    def __init__(self) -> None:
        self._sum = 0
        self._size = 0

    def update(self, data: bytes) -> None:
        """Take a piece of data."""
        self._size += len(data)
        self._sum += sum(data)

    def show(self) -> str:
        """The checksum and the number of 512-byte blocks."""
        folded = (self._sum & 0xFFFF) + ((self._sum & 0xFFFFFFFF) >> 16)
        return f"{(folded & 0xFFFF) + (folded >> 16)} {-(-self._size // 512)}"

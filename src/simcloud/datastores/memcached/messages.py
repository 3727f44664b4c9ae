"""The messages between a memcached client and the server.

Programs that only move bytes (``nc``, ``telnet``) use the text protocol instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

MEMCACHED: Final = "memcached"
PORT: Final = 11211


class Fetch(NamedTuple):
    """``gets key…``."""

    keys: tuple[bytes, ...]


class Values(NamedTuple):
    """The values found."""

    values: Mapping[bytes, bytes]


class Store(NamedTuple):
    """``set``, ``add`` or ``replace``."""

    verb: str
    key: bytes
    value: bytes
    flags: int
    expiry: int


class Answer(NamedTuple):
    """A one-line response: ``STORED``, ``NOT_STORED`` or an error."""

    line: str
